"""What is wrong with a set's source, and which of its secrets can be seen."""

import functools
import html
import json
import re
from pathlib import Path

from grading.items import (
    ASSIGNMENTS,
    grade_id,
    is_solution,
    problem_set,
    set_names,
)
from grading.table import answers

SOLUTION = re.compile(r"### BEGIN SOLUTION\n(.*?)### END SOLUTION", re.DOTALL)
MARKERS = ("BEGIN SOLUTION", "END SOLUTION", "BEGIN HIDDEN")
TEXTS = {".ipynb", ".html", ".js", ".md", ".py", ".txt", ".json", ".yml",
         ".inv"}


def problems_of(name):
    """Return what is wrong with a set's source, checks and answers."""
    pset, found = problem_set(name), []
    cells = pset.source().cells
    ids = [grade_id(c) for c in cells]
    found += [f"{i} twice" for i in sorted({i for i in ids
                                           if ids.count(i) > 1})]
    solutions = {grade_id(c) for c in cells
                 if is_solution(c) and c.cell_type == "code"}
    for item in sorted(solutions ^ set(pset.items)):
        found.append(f"{item}: no check" if item in solutions
                     else f"{item}: no solution cell")
    for cell in cells:
        about = cell.metadata.get("nbgrader")
        if not about or not about.get("grade_id"):
            found.append(f"a cell without id: {cell.source[:30]!r}")
        elif about["solution"]:
            if cell.source.count("### BEGIN SOLUTION") != 1 or (
                    cell.source.count("### END SOLUTION") != 1):
                found.append(f"{about['grade_id']}: mark the solution once")
            if cell.cell_type == "code":
                if f"check-{about['grade_id']}" not in ids:
                    found.append(f"{about['grade_id']}: no visible check")
            elif not {"**Model answer.**", "**Rubric.**"} <= set(
                    re.findall(r"\*\*[\w ]+\.\*\*", cell.source)):
                found.append(f"{about['grade_id']}: no rubric or model")
    for item in pset.items:
        kinds = [kind for kind, _, _ in answers(pset, item)]
        if kinds.count("wrong") < 6 or kinds.count("right") < 3:
            found.append(f"{item}: fewer than 6 wrong or 3 right answers")
    for variant in pset.variants:
        pset.source(variant)
    return [f"{name}: {problem}" for problem in found]


# ------------------------------------------------- leaks

def squeeze(text, page=False):
    """Drop white space and quotes (and a page's tags): texts compare."""
    if page:
        text = html.unescape(re.sub(r"<[^<>]*>", "", text))
    return re.sub(r"\\n|[\s\"\\*`]+", "", text)


@functools.cache
def public():
    """Return what anybody may read: the book, the package, what is given."""
    root, texts = ASSIGNMENTS.parent, []
    for path in (*root.glob("book/*.md"), *root.glob("src/qkv/**/*.py")):
        texts.append(path.read_text(encoding="utf-8"))
    for path in root.glob("book/*.ipynb"):
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            texts.append("".join(cell["source"]))
    for name in set_names():
        texts += [SOLUTION.sub("", c.source)
                  for c in problem_set(name).source().cells]
    return squeeze("\n".join(texts))


@functools.cache
def secrets(name):
    """Return what must not be seen: {where from: squeezed text}.

    Each line of a solution, a model answer, a rubric or the hidden checks,
    unless it is too short to tell anything or public anyway.
    """
    lines = []
    for cell in problem_set(name).source().cells:
        for part in SOLUTION.findall(cell.source):
            # The formulas of a page look different from their source.
            lines += [(grade_id(cell), line) for line in re.split(
                r"\$[^$]*\$|\n" if cell.cell_type == "markdown" else "\n",
                part)]
    checks = ASSIGNMENTS / "grading" / name / "checks.py"
    lines += [("checks", line) for line in
              checks.read_text(encoding="utf-8").splitlines()]
    return {f"{where}: {line.strip()[:40]}": squeeze(line)
            for where, line in lines
            if len(squeeze(line)) >= 20 and squeeze(line) not in public()}


def strings(value):
    """Return the text in a JSON value; lines of a list belong together."""
    if isinstance(value, dict):
        return "\n".join(map(strings, value.values()))
    if isinstance(value, list):
        return "".join(map(strings, value))
    return value if isinstance(value, str) else ""


def leaks(folder, names):
    """Return which secrets the text files of a folder show."""
    hidden = {k: v for n in names for k, v in secrets(n).items()}
    found = []
    for path in sorted(Path(folder).rglob("*")):
        if path.suffix not in TEXTS or path.is_dir():
            continue
        raw = path.read_text(encoding="utf-8", errors="ignore")
        if path.suffix == ".ipynb":
            raw = strings(json.loads(raw))
        text = squeeze(raw, path.suffix == ".html")
        found += [f"{path}: {where}" for where, secret in hidden.items()
                  if secret in text]
        found += [f"{path}: {mark}" for mark in MARKERS if mark in raw]
        if path.name == "checks.py" or "answers" in path.parts:
            found.append(f"{path}: a file of the grader")
    return found
