"""Set the address of this repository in every tracked file.

Usage: repository.py https://github.com/OWNER/NAME

The address now in force is read from `repository: url:` in _config.yml.
"""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ADDRESS = re.compile(r"https://github\.com/([\w.-]+)/([\w.-]+?)(\.git)?/?")


def current():
    """Return (owner, name) of the address in _config.yml."""
    text = (ROOT / "_config.yml").read_text(encoding="utf-8")
    line = re.search(r"^  url: (\S+)$", text, re.MULTILINE)
    return ADDRESS.fullmatch(line[1]).groups()[:2]


def forms(owner, name):
    """Return each way in which an address of this repository is written."""
    return [
        f"github.com/{owner}/{name}",
        f"raw.githubusercontent.com/{owner}/{name}",
        f"colab.research.google.com/github/{owner}/{name}",
        f"{owner.lower()}.github.io/{name}",
    ]


def main(url):
    """Replace the old address by `url`; say which files changed."""
    new = ADDRESS.fullmatch(url)
    if not new:
        sys.exit(f"Not an address like https://github.com/owner/name: {url}")
    pairs = list(zip(forms(*current()), forms(new[1], new[2]), strict=True))
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True
    )
    for path in listed.stdout.decode().split("\0")[:-1]:
        try:
            text = (ROOT / path).read_bytes().decode("utf-8")
        except (UnicodeDecodeError, FileNotFoundError, IsADirectoryError):
            continue
        changed = text
        for old, fresh in pairs:
            changed = re.sub(re.escape(old) + r"(?![\w-])", fresh, changed)
        if changed != text:
            (ROOT / path).write_bytes(changed.encode("utf-8"))
            print(f"changed {path}")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
