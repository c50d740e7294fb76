"""What passed once and has not changed need not run again.

    python tools/unchanged.py FILES… -- COMMAND…

runs COMMAND with those FILES that have changed since they passed: they, the
package, the versions, the settings. COMMAND is a pytest that runs each file
for itself. FRESH=1, or CI, runs all of them and leaves what is kept alone.
"""

import hashlib
import json
import os
import platform
import re
import subprocess
import sys
from functools import cache
from importlib.metadata import distributions
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "_build" / "cache"
# What a number in an output can depend on beside code.
SETTINGS = re.compile("(OMP|MKL|OPENBLAS|ATEN)_|PYTHONHASHSEED|PYTHONWARN")


def fresh(environment=os.environ):
    """Return whether everything is to run, whatever has passed."""
    return any(environment.get(name) for name in ("FRESH", "CI"))


def number(*parts):
    """Return one number for texts, bytes and what else `repr` tells."""
    return hashlib.sha256(repr(parts).encode()).hexdigest()


def content(*places):
    """Return (path, number) of each file, and of each file in a folder."""
    files = [
        file
        for place in map(Path, places)
        for file in (sorted(place.rglob("*")) if place.is_dir() else [place])
        if file.is_file() and "__pycache__" not in file.parts
    ]
    return [(str(f), hashlib.sha256(f.read_bytes()).digest()) for f in files]


@cache
def machine():
    """Return Python, the packages, the processor and the settings."""
    packages = {(d.name, d.version) for d in distributions()}
    settings = {k: v for k, v in os.environ.items() if SETTINGS.match(k)}
    return (sys.version, platform.platform(), platform.processor(),
            sorted(packages), sorted(settings.items()))  # fmt: skip


class Kept:
    """A dictionary in a folder, of values that JSON can say.

    Parameters
    ----------
    kind : str
        What is kept: the name of the folder.
    folder : path, optional
    """

    def __init__(self, kind, folder=FOLDER):
        self.folder = Path(folder) / kind

    def get(self, key):
        """Return what is kept under a number, or None."""
        if fresh():
            return None
        try:
            text = (self.folder / key).read_text(encoding="utf-8")
            return json.loads(text)
        except (OSError, ValueError):
            return None

    def __setitem__(self, key, value):
        if fresh():
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        part = self.folder / f"{key}.{os.getpid()}"  # two may write it
        part.write_text(json.dumps(value), encoding="utf-8")
        part.replace(self.folder / key)


def failed(said):
    """Return the files that pytest names in its closing lines."""
    found = re.findall(r"^(?:FAILED|ERROR) (\S+?)(?:::| - |$)", said, re.M)
    return set(found)


def run(files, command, kept):
    """Run a command with what has changed; return its exit code."""
    shared = content("src/qkv", "tests/support/nbval-sanitize.cfg")
    keys = {f: number(content(f), shared, machine(), command) for f in files}
    same = [f for f in files if kept.get(keys[f])]
    rest = [f for f in files if f not in same]
    if same:
        print("unchanged since they passed:", *same, flush=True)
    if not rest:
        # pytest's own words, for whoever reads the last line.
        print("0 failed, nothing had to run")
        return 0
    said = []
    with subprocess.Popen(
        [*command, *rest], stdout=subprocess.PIPE, encoding="utf-8"
    ) as process:
        for line in process.stdout:
            print(line, end="", flush=True)
            said.append(line)
    bad = failed("".join(said))
    # 1: tests failed. Anything else says nothing about the files.
    if process.returncode == 0 or (process.returncode == 1 and bad):
        for file in set(rest) - bad:
            kept[keys[file]] = file
    return process.returncode


if __name__ == "__main__":
    at = sys.argv.index("--")
    os.chdir(ROOT)
    sys.exit(run(sys.argv[1:at], sys.argv[at + 1 :], Kept("notebooks")))
