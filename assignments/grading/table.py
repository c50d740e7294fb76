"""Is the grader right? Every answer beside a check, accepted or refused."""

import ast
import hashlib
import re
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from importlib.metadata import version
from pathlib import Path

from grading import sandbox
from grading.items import (
    ASSIGNMENTS,
    grade_id,
    is_solution,
    judge,
    parse,
    problem_set,
)
from grading.sandbox import Sandbox

PART = re.compile(r"^# %% (wrong|right|cheat): (.+)$", re.MULTILINE)
LIKE = re.compile(r"# like: (.+)\n")
CHANGE = re.compile(r"#(?: (?P<kind>[-+ ])(?: (?P<text>.*))?"
                    r"| (?P<old>\S.*) → (?P<new>.+))?")


def code_cells(book):
    """Return (name, source) of a notebook's code cells."""
    return [(grade_id(c), c.source) for c in book.cells
            if c.cell_type == "code"]


def changes_in(lines):
    """Return [(old, new)] of the changes that an answer's lines tell.

    A change is `# old → new`, or lines that stay, go and come, in this
    order, each behind `#   `, `# - ` or `# + `.
    """
    found, last = [], "→"
    for line in lines:
        mark = CHANGE.fullmatch(line)
        if not mark:
            raise ValueError(f"this is no change: {line!r}")
        if mark["old"]:
            found.append(([mark["old"]], [mark["new"]]))
            last = "→"
            continue
        kind, text = mark["kind"] or " ", mark["text"] or ""
        if " -+→".index(kind) < " -+→".index(last):
            found.append(([], []))
        old, new = found[-1]
        for side in {" ": (old, new), "-": (old,), "+": (new,)}[kind]:
            side.append(text)
        last = kind
    return [("\n".join(old), "\n".join(new)) for old, new in found]


def expanded(text, source):
    """Return the cell that an answer stands for: `source`, changed.

    The answer is changes, or an indented body for the function in `source`,
    or a whole cell.
    """
    lines = text.splitlines()
    if text.startswith(" "):
        return source.partition("\n")[0] + "\n" + text
    comments = text and all(line.startswith("#") for line in lines)
    if not comments and not re.match(r"# [-+ ] |# \S.* → ", text):
        return text
    for old, new in changes_in(lines):
        if not old or source.count(old) != 1:
            raise ValueError(f"is there {source.count(old) if old else 0} "
                             f"times, not once: {old!r}")
        source = source.replace(old, new)
    return source


def bare(source):
    """Return a solution without marks and docstrings: what answers change."""
    source = re.sub(r"\n *### (BEGIN|END) SOLUTION", "", source)
    return re.sub(r'\n *"""(?s:.*?)"""(\n(?=\n))?', "", source).strip("\n")


def answers(pset, item, variant=None):
    """Return (kind, what it is, source) of each answer beside the checks.

    Under another specification their text is changed as the source's is.
    """
    path = ASSIGNMENTS / "grading" / pset.name / "answers" / f"{item}.txt"
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    found, known = list(PART.finditer(text)), {}
    reference = bare(reference_of(pset.source())[item])
    for m, n in zip(found, [*found[1:], None], strict=True):
        own = text[m.end():n.start() if n else None].strip("\n")
        like = LIKE.match(own)
        try:
            if m[2] in known:
                raise ValueError("there are two of this name")
            if like and like[1] not in known:
                raise ValueError(f"no answer above is called {like[1]!r}")
            known[m[2]] = (m[1], expanded(own[like.end():], known[like[1]][1])
                           if like else expanded(own, reference))
        except ValueError as error:
            raise ValueError(f"{path}: {m[2]}: {error}") from None
    changes = pset.variants.get(variant, {}).items()
    return [(kind, what, replaced(source, changes))
            for what, (kind, source) in known.items()]


def replaced(text, changes):
    """Return a text after (old, new) replacements, one after the other."""
    for old, new in changes:
        text = text.replace(old, new)
    return text


def reference_of(book):
    """Return the source of each reference solution."""
    return {grade_id(c): c.source for c in book.cells
            if is_solution(c) and c.cell_type == "code"}


def seen_behind(source, own):
    """Return what items behind can notice of a cell: all that runs at once.

    That leaves out what its item's `own` function or methods do when they are
    called: where an item behind needs them, a correct one is put in place.
    """
    tree = parse(source)
    for node in tree.body:
        if getattr(node, "name", "") == own:
            for part in ast.walk(node):
                if isinstance(part, ast.FunctionDef):
                    part.body = [ast.Pass()]
    return ast.unparse(tree)


def number(pset, *job):
    """Return one number for all that the verdicts on an answer depend on."""
    here = Path(__file__).parent
    files = [*(here / f"{name}.py" for name in (
                 "child", "items", "sandbox", "table", "wire")),
             here / pset.name / "checks.py",
             *(ASSIGNMENTS.parent / "src" / "qkv" / f"{name}.py" for name in (
                 "reference", "checks"))]
    limits = [(i.name, i.seconds, i.megabytes) for i in pset.items.values()]
    system = (sys.version, bool(sandbox.isolation()),
              *map(version, pset.packages))
    return hashlib.sha256(repr(
        [*(f.read_bytes() for f in files), limits, system, job],
    ).encode()).hexdigest()


def check_answers(names, seed="0", workers=2, items=None, kept=None,
                  boxes=None):
    """Return a row per answer: set, item, kind, what, lost, good, why.

    A wrong answer (or a cheat) must lose its item and no other, a right one
    none. Items in front of the changed one cannot see it and are not run;
    those behind are judged once for all answers that look alike to them, and
    for each cheat.
    Answers that another specification changes are judged under it as well.

    Parameters
    ----------
    kept : dict, optional
        Rows that came out as they should, by `number`; new ones are added.
    boxes : dict, optional
        A sandbox for each choice of packages, for one worker, to use again.
    """
    jobs, kept = [], {} if kept is None else kept
    for name in names:
        pset = problem_set(name)
        for variant, changes in pset.variants.items():
            book = pset.source(variant)
            cells, reference = code_cells(book), reference_of(book)
            order = [n for n, _ in cells if n in pset.items]
            for item in items or order:
                for (*_, first), (kind, what, source) in zip(
                        answers(pset, item), answers(pset, item, variant),
                        strict=True):
                    if changes and source == first:
                        continue
                    mine = [(n, source if n == item else s)
                            for n, s in cells]
                    jobs.append((pset, variant, mine, reference, item,
                                 order[order.index(item):], kind, what))
    local, behind = threading.local(), {}
    with ExitStack() as stack, ThreadPoolExecutor(workers) as pool:
        def run(job):
            pset, variant, cells, reference, item, run_items, kind, what = job
            key = number(*job, seed)
            if row := kept.get(key):
                return row
            mine = (local.__dict__.setdefault("boxes", {})
                    if boxes is None else boxes)
            if pset.packages not in mine:
                mine[pset.packages] = Sandbox(pset.packages)
                if boxes is None:
                    stack.enter_context(mine[pset.packages])

            def verdict(n):
                return judge(pset, pset.items[n], cells, reference,
                             mine[pset.packages], seed, variant)

            result = {item: verdict(item)}
            alike = (pset.name, variant, item, kind == "cheat" and what,
                     seen_behind(dict(cells)[item], pset.items[item].defines))
            if alike not in behind:
                behind[alike] = {n: verdict(n) for n in run_items[1:]}
            result |= behind[alike]
            lost = [n for n, r in result.items() if not r["ok"]]
            what, _, words = what.partition(" -> ")
            good = (lost == ([] if kind == "right" else [item])
                    and words in result[item]["why"])
            row = {"set": pset.name, "item": item, "kind": kind,
                   "what": what, "lost": lost, "good": good,
                   "why": "; ".join(result[n]["why"] for n in lost)}
            if good:
                kept[key] = row
            return row

        return list(pool.map(run, jobs))


def show(rows):
    """Return the table as text, and how many rows are as they should be."""
    lines = [f"{'set':4} {'item':18} {'':5} {'answer':44} verdict"]
    for row in rows:
        verdict = "lost: " + row["why"] if row["lost"] else "kept"
        if not row["good"]:
            verdict = "MISJUDGED, " + verdict + f" {row['lost']}"
        lines.append(f"{row['set']:4} {row['item']:18} {row['kind']:5} "
                     f"{row['what'][:44]:44} {verdict}")
    for kind, word in (("wrong", "accepted"), ("cheat", "accepted"),
                       ("right", "rejected")):
        mine = [r for r in rows if r["kind"] == kind]
        bad = sum(not r["good"] for r in mine)
        lines.append(f"{len(mine)} {kind}, {bad} {word} or judged otherwise")
    return "\n".join(lines)
