"""Problem sets, their items, and one item's verdict.

An item is one solution cell with the id NAME and one test cell with the id
`check-NAME`, which carries the points. What decides is a function beside it,
in `psN/checks.py`, that runs here, never where student code runs.
"""

import ast
import importlib
import inspect
import textwrap
import threading
import time
import zlib
from dataclasses import dataclass, field
from pathlib import Path

import nbformat
import numpy as np

from grading.sandbox import MEGABYTES, SECONDS, Lost

ASSIGNMENTS = Path(__file__).resolve().parent.parent
SOURCE = ASSIGNMENTS / "source"
# Code that would be built, looked up or run behind the reader's back.
HIDDEN_DOORS = {"eval", "exec", "compile", "__import__", "import_module",
                "meta_path", "__builtins__", "__subclasses__", "__globals__",
                "__loader__", "__spec__", "_getframe", "settrace", "tb_frame",
                "f_back", "f_locals", "gi_frame"}
DELEGATES = {"qkv", "transformers", "xformers", "flash_attn", "jax",
             "tensorflow", "keras"}


@dataclass
class Item:
    """One graded code item; see `ProblemSet.item`."""

    name: str
    check: object
    defines: str
    needs: tuple = ()
    drive: object = None
    seconds: int = SECONDS
    megabytes: int = MEGABYTES


@dataclass
class ProblemSet:
    """What `psN/checks.py` says about its set.

    Parameters
    ----------
    name : str
        ``"ps1"``.
    packages : tuple of str
        What a graded cell may import beside the standard library. With
        torch, arrays reach student code as tensors.
    forbidden : tuple of str
        Names that a graded cell may not take from a package.
    variants : dict
        Name of a specification: {text in the source: text in its place}.
        The first is the source as it stands, ``{}``.
    """

    name: str
    packages: tuple = ("numpy",)
    forbidden: tuple = ()
    variants: dict = field(default_factory=lambda: {"as written": {}})
    items: dict = field(default_factory=dict)

    def item(self, name, *, defines=None, needs=(), drive=None,
             seconds=SECONDS, megabytes=MEGABYTES):
        """Register a check ``check(run, rng, variant)`` for an item.

        Parameters
        ----------
        name : str
            The id of the solution cell; `defines` is the name it must
            define, the same if not given.
        needs : sequence of str
            Items whose reference solution this one is given: a mistake
            there costs nothing here.
        drive : callable, optional
            ``drive(names, *args)`` runs beside the student's code instead
            of a plain call, e.g. to fill in a module's weights. It imports
            what it needs itself and holds nothing secret.
        """
        def register(check):
            self.items[name] = Item(name, check, defines or name,
                                    tuple(needs), drive, seconds, megabytes)
            return check
        return register

    def given(self, item, reference):
        """Return the references that `item` needs, and those they need."""
        needed, more = set(), set(item.needs)
        while more - needed:
            needed |= more
            more = {n for name in needed for n in self.items[name].needs}
        return "\n".join(reference[n] for n in reference if n in needed)

    def variant(self, seed):
        """Return the specification that a seed picks; "0" is the first."""
        names = list(self.variants)
        return names[number(seed, self.name) % len(names)]

    def source(self, variant=None):
        """Return the source notebook under one specification."""
        book = nbformat.read(SOURCE / self.name / f"{self.name}.ipynb", 4)
        for old, new in self.variants.get(variant, {}).items():
            hits = [cell for cell in book.cells if old in cell.source]
            if not hits:
                raise ValueError(f"{self.name}: {variant}: no {old!r}")
            for cell in hits:
                cell.source = cell.source.replace(old, new)
        return book


def number(seed, *names):
    """Return a number for a seed and a purpose; 0 for seed "0" alone."""
    if str(seed) == "0" and len(names) == 1:
        return 0
    return zlib.crc32("/".join(map(str, (seed, *names))).encode())


def problem_set(name):
    """Return the set that `psN/checks.py` defines."""
    return importlib.import_module(f"grading.{name}.checks").SET


def set_names():
    """Return the names of the sets that have a source and checks."""
    here = ASSIGNMENTS / "grading"
    return sorted(p.name for p in SOURCE.iterdir()
                  if (p / f"{p.name}.ipynb").exists()
                  and (here / p.name / "checks.py").exists())


# ------------------------------------------------- notebooks

def grade_id(cell):
    """Return a cell's nbgrader id, or an empty string."""
    return (cell.metadata.get("nbgrader") or {}).get("grade_id", "")


def is_solution(cell):
    """Tell whether students write into this cell."""
    return bool((cell.metadata.get("nbgrader") or {}).get("solution"))


def plain(source):
    """Drop the lines that only IPython understands."""
    return "\n".join("" if line.lstrip().startswith(("%", "!")) else line
                     for line in source.splitlines())


ONE_AT_A_TIME = threading.Lock()


def parse(source):
    """Return a cell's syntax tree; an empty one if it has none."""
    try:
        with ONE_AT_A_TIME:  # Python 3.11 counts depth across threads
            return ast.parse(plain(source))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ast.Module([], [])  # running it will say so


def definitions(source):
    """Return (line, text) of what a cell imports, defines or names."""
    tree, found = parse(source), []
    for node in tree.body:
        keep = isinstance(node, ast.Import | ast.ImportFrom | ast.FunctionDef
                          | ast.ClassDef)
        if isinstance(node, ast.Assign):
            try:
                ast.literal_eval(node.value)
                keep = True
            except (ValueError, TypeError, RecursionError):
                keep = isinstance(node.value, ast.Lambda)
        if keep:
            first = min([node.lineno] + [d.lineno for d in
                        getattr(node, "decorator_list", [])])
            lines = plain(source).splitlines()[first - 1:node.end_lineno]
            found.append((first, "\n".join(lines)))
    return found


def refused(source, forbidden=()):
    """Return why a cell may not count, judged by its text; else ""."""
    tree, forbidden = parse(source), set(forbidden)
    asleep = {id(node.func) for node in ast.walk(tree)  # model.eval()
              if isinstance(node, ast.Call) and not node.args
              and isinstance(node.func, ast.Attribute)
              and node.func.attr == "eval"}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            taken = {p for a in node.names for p in a.name.split(".")}
        elif isinstance(node, ast.ImportFrom):
            taken = {*(node.module or "").split("."),
                     *(a.name for a in node.names)}
        elif isinstance(node, ast.Attribute):
            taken = {node.attr}
            if id(node) in asleep or (isinstance(node.value, ast.Name)
                                      and node.value.id == "self"):
                continue
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            taken = {node.value}
        elif isinstance(node, ast.Name):
            taken = {node.id} & HIDDEN_DOORS
        else:
            continue
        if isinstance(node, ast.Import | ast.ImportFrom) and taken & DELEGATES:
            name = min(taken & DELEGATES)
            return f"imports {name}; this is to be built, not borrowed"
        if taken & forbidden:
            return f"uses {min(taken & forbidden)}, which this set rules out"
        if taken & HIDDEN_DOORS:
            return f"uses {min(taken & HIDDEN_DOORS)}"
    return ""


# ------------------------------------------------- one verdict

def judge(pset, item, cells, reference, sandbox, seed, variant):
    """Return {"ok", "why", "seconds"} for one item of one submission.

    Parameters
    ----------
    cells : list of (name, source)
        The student's code cells in order; name is "" for a cell of theirs.
    reference : dict
        Source of the reference solution of each item.
    """
    names = [name for name, _ in cells]
    begin = time.monotonic()
    if item.name not in names:
        return {"ok": False, "why": "its cell is missing", "seconds": 0}
    at = names.index(item.name)
    cell = plain(cells[at][1])
    left_out, before = "", []
    for name, source in cells[:names.index(f"check-{item.name}")
                              if f"check-{item.name}" in names else at]:
        if name != item.name:
            for _, part in definitions(source):
                if why := refused(part, pset.forbidden):
                    left_out = f" (a helper was left out: it {why})"
                else:
                    before.append(part)
    why = refused(cell, pset.forbidden)
    try:
        if why:
            raise Lost(why)
        drive = item.drive and textwrap.dedent(
            inspect.getsource(item.drive)).replace(
                f"def {item.drive.__name__}", "def drive", 1)
        run = sandbox.open(
            cell, name=item.defines, parts=definitions(cell), before=before,
            given=pset.given(item, reference), drive=drive,
            seconds=item.seconds, megabytes=item.megabytes)
        rng = np.random.default_rng(number(seed, pset.name, item.name))
        with np.errstate(all="ignore"):
            item.check(run, rng, variant)
    except Lost as lost:
        why = str(lost) + left_out
    except Exception as error:
        # A result of a form that the check did not expect.
        why = f"the result cannot be compared ({type(error).__name__})"
    finally:
        sandbox.finish()
    return {"ok": not why, "why": why,
            "seconds": round(time.monotonic() - begin, 3)}


def numbers(value, count=1):
    """Return an array, or a tuple of `count` arrays, or lose the item."""
    if count > 1:
        if not isinstance(value, tuple | list) or len(value) != count:
            raise Lost(f"returns {kind(value)}, not {count} arrays")
        return tuple(numbers(v) for v in value)
    if isinstance(value, bool | int | float):
        value = np.asarray(value)
    if not isinstance(value, np.ndarray):
        raise Lost(f"returns {kind(value)}, not an array")
    return value


def kind(value):
    """Name a type in words that carry no value."""
    if value is None:
        return "nothing (is there a `return`?)"
    return f"a {type(value).__name__}"


def same(got, want, where, hints=None, rtol=1e-5, atol=1e-6):
    """Lose the item unless `got` equals `want`, saying what differs.

    Parameters
    ----------
    where : str
        Which case this was, in words: ``"a batch of two heads"``.
    hints : dict, optional
        {diagnosis: what a known mistake would return}; the first that
        agrees with `got` is told.
    """
    got, want = numbers(got), np.asarray(want)

    def close(a, b):
        a, b = np.asarray(a), np.asarray(b)
        return a.shape == b.shape and np.allclose(
            a, b, rtol=rtol, atol=atol, equal_nan=True)

    if close(got, want):
        return
    for diagnosis, wrong in (hints or {}).items():
        if close(got, wrong):
            raise Lost(f"{where}: {diagnosis}")
    if got.ndim != want.ndim:
        raise Lost(f"{where}: the result has {got.ndim} axes, not "
                   f"{want.ndim}")
    for axis, (a, b) in enumerate(zip(got.shape, want.shape, strict=True)):
        if a != b:
            raise Lost(f"{where}: axis {axis - got.ndim} of the result has "
                       "the wrong length")
    if np.isnan(got).any() and not np.isnan(want).any():
        raise Lost(f"{where}: the result contains NaN")
    raise Lost(f"{where}: the shape is right, the numbers are not")


def must(true, why):
    """Lose the item unless `true`."""
    if not true:
        raise Lost(why)
