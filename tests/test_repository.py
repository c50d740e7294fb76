"""The house itself: floor plan, pins, addresses, what is tracked."""

import ast
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tokenize
import tomllib
from pathlib import Path

import pytest
import yaml
from nbformat import v4

import qkv

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

# The program lint-imports, wherever this Python keeps its programs.
LINT_IMPORTS = (
    "from importlinter.cli import lint_imports_command as run;"
    "run(['--no-cache', '--no-logo'])"
)

# Every package but NumPy is missing.
REFUSE = """
import sys
before = set(sys.modules)

class Refuse:
    def find_spec(self, name, path=None, target=None):
        top = name.partition(".")[0]
        if top not in sys.stdlib_module_names | {"numpy", "qkv"}:
            raise ModuleNotFoundError(f"{name} is not NumPy", name=name)

sys.meta_path.insert(0, Refuse())
import qkv
"""
NEW = """
new = {name.partition(".")[0] for name in set(sys.modules) - before}
print(*sorted(new - set(sys.stdlib_module_names) - {"numpy", "qkv"}))
"""


def python(script):
    """Run a script by itself."""
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", script],
        capture_output=True,
        text=True,
    )


def test_import_needs_only_numpy():
    done = python(REFUSE + NEW)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == ""


@pytest.mark.parametrize(
    ("name", "extra"),
    [
        ("MultiHeadAttention", "torch"),
        ("toys", "torch"),
        ("pretrained.MiniLM", "torch"),
        ("plot", "plot"),
    ],
)
def test_what_is_missing_names_its_extra(name, extra):
    done = python(f"{REFUSE}\nqkv.{name}")
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("ModuleNotFoundError"), done.stderr
    assert f'pip install "qkv[{extra}]"' in last
    assert "is not NumPy" in done.stderr  # the original stays in sight


@pytest.mark.parametrize(
    ("model", "package"),
    [
        ("MiniLM", "tokenizers"),
        ("Marian", "tokenizers"),
        ("SmolLM2", "gguf"),
    ],
)
def test_a_model_names_the_extra_it_needs(model, package, monkeypatch):
    make = getattr(qkv.pretrained, model)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ModuleNotFoundError, match=r"qkv\[models\]"):
        make()


def test_the_extras_are_those_of_the_project():
    extras = tomllib.loads(read("pyproject.toml"))["project"]
    for package, extra in qkv.extras.EXTRAS.items():
        needed = extras["optional-dependencies"][extra]
        assert any(line.startswith(package) for line in needed)


def test_type_checkers_see_what_loads_on_first_use():
    tree = ast.parse(read("src/qkv/__init__.py"))
    block = next(node for node in tree.body if isinstance(node, ast.If))
    seen = {name.name for line in block.body for name in line.names}
    assert ast.unparse(block.test) == "TYPE_CHECKING"
    assert seen == {*qkv._LAZY, *qkv._ROOMS}


CORE = (
    "reference",
    "blockwise",
    "masks",
    "attention",
    "cache",
    "multihead",
    "transformer",
)
# What serves it: refusals, threads, numbers that are not finite.
SERVICES = ("checks", "hidden", "threads")


def modules():
    """Return every module of the package."""
    return sorted(SRC.rglob("*.py"))


@pytest.mark.parametrize(
    ("room", "line"),
    [
        ("attention.py", ""),
        ("masks.py", "from .attention import scaled_dot_product_attention"),
        ("reference.py", "from . import blockwise"),
        ("toys/pairs.py", "def f():\n    from ..pretrained import MiniLM"),
        ("attention.py", "from .reference import softmax"),
        ("plot.py", "import qkv"),
        ("blockwise.py", "import torch"),
        ("attic.py", "import math"),
    ],
)
def test_a_wrong_arrow_is_refused(room, line, tmp_path):
    shutil.copytree(SRC, tmp_path / "qkv")
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    with open(tmp_path / "qkv" / room, "a", encoding="utf-8") as file:
        file.write(f"\n{line}\n")
    done = subprocess.run(
        [sys.executable, "-c", LINT_IMPORTS],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    verdict = re.search(r"(\d+) broken", done.stdout)
    assert verdict, done.stdout + done.stderr
    assert (int(verdict[1]) > 0) is bool(line), done.stdout


NOT_CODE = {
    tokenize.COMMENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
    tokenize.INDENT,
    tokenize.NEWLINE,
    tokenize.NL,
}


def code_lines(source):
    """Count the lines of code: no blanks, comments, docstrings, overloads."""
    lines = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in NOT_CODE:
            lines |= set(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            first = node.body[0] if ast.get_docstring(node) else None
            if first is not None:
                lines -= set(range(first.lineno, first.end_lineno + 1))
            if "overload" in map(
                ast.unparse, getattr(node, "decorator_list", [])
            ):
                lines -= set(range(node.lineno - 1, node.end_lineno + 1))
    return len(lines)


def test_code_lines_are_counted():
    source = '''"""Words.

    More words."""

import math  # why


@overload
def f(
    x: int
) -> int: ...


def f(
    x,
):
    """Say."""
    # Why.
    return """a

    b"""
'''
    assert code_lines(source) == 7


def test_core_rooms_are_small():
    lines = {
        name: code_lines(read(SRC / f"{name}.py")) for name in CORE + SERVICES
    }
    assert {k: n for k, n in lines.items() if k in CORE and n > 90} == {}
    assert sum(lines[name] for name in CORE) <= 500, lines
    assert sum(lines[name] for name in SERVICES) <= 250, lines


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


def test_defaults_are_shown_as_they_are_written():
    """Sphinx counts bytes as characters: a √ shifts what it cuts out."""
    for path in modules():
        lines = path.read_bytes().splitlines()
        for node in ast.walk(ast.parse(read(path))):
            if not isinstance(node, ast.arguments):
                continue
            for default in filter(None, node.defaults + node.kw_defaults):
                line = lines[default.end_lineno - 1]
                assert line[: default.end_col_offset].isascii(), line.decode()


@pytest.mark.parametrize(
    "source",
    [
        "import pickle",
        "from pickle import loads",
        "import urllib.request",
        "from urllib.request import urlopen",
        "def f():\n    import socket",
        "import torch\n\ntorch.load('a.pt')",
        "import torch\n\ntorch.hub.load('a', 'b')",
        "import numpy as np\n\nnp.load('a.npy', allow_pickle=True)",
        "import numpy as np\n\nnp.load('a.npy', allow_pickle=maybe)",
        "eval('1')",
        "exec('1')",
    ],
)
@pytest.mark.parametrize("name", ["src/qkv/x.py", "book/x.ipynb"])
def test_what_runs_or_fetches_foreign_code_is_refused(source, name):
    if name.endswith("ipynb"):
        cell = v4.new_code_cell(source)
        source = v4.writes(v4.new_notebook(cells=[cell]))
    done = subprocess.run(
        [sys.executable, "-m", "ruff", "check", "--stdin-filename", name, "-"],
        cwd=ROOT,
        input=source,
        capture_output=True,
        encoding="utf-8",
    )
    assert re.search(r"\b(TID251|S102|S307)\b", done.stdout), done.stdout


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


def test_there_is_one_version():
    project = tomllib.loads(read("pyproject.toml"))
    source = project["tool"]["setuptools"]["dynamic"]["version"]
    assert source == {"attr": "qkv.__version__"}
    assert qkv.__version__ == yaml.safe_load(read("CITATION.cff"))["version"]
    assert f"## [{qkv.__version__}]" in read("CHANGELOG.md")


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
    r"|\.pytest_cache|\.ruff_cache|\.mypy_cache|[\w.-]+\.egg-info)(/|$)"
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
