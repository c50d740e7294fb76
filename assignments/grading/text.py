"""A problem set as plain text, to write and to review: `make edit`.

Each cell starts with a line ``%% KIND [NAME [POINTS]]``:

- ``%% markdown NAME``, ``%% code NAME``: given, students cannot change it
- ``%% solution NAME``: code that students write
- ``%% check NAME POINTS``: the visible check of that solution (`check-NAME`)
- ``%% answer NAME POINTS``: a short answer, marked by hand
"""

import re

from nbformat import v4

HEAD = re.compile(r"^%% (markdown|code|solution|check|answer) ([\w-]+)"
                  r"(?: ([\d.]+))?$", re.MULTILINE)
# kind: cell type, graded, locked, solution
KINDS = {
    "markdown": ("markdown", False, True, False),
    "code": ("code", False, True, False),
    "solution": ("code", False, False, True),
    "check": ("code", True, True, False),
    "answer": ("markdown", True, False, True),
}
KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}


def to_notebook(text):
    """Make a notebook of a text."""
    found = list(HEAD.finditer(text))
    starts = len(re.findall(r"^%% ", text, re.MULTILINE))
    if starts != len(found) or text[:found[0].start() if found else 0].strip():
        raise ValueError("a cell's first line is not understood")
    book = v4.new_notebook(metadata={
        "kernelspec": KERNEL, "language_info": {"name": "python"}})
    for head, after in zip(found, [*found[1:], None], strict=True):
        kind, name, points = head.groups()
        body = text[head.end():after.start() if after else None].strip("\n")
        cell_type, grade, locked, solution = KINDS[kind]
        name = f"check-{name}" if kind == "check" else name
        about = {"schema_version": 3, "grade_id": name, "grade": grade,
                 "locked": locked, "solution": solution, "task": False}
        if grade:
            if points is None:
                raise ValueError(f"{name}: how many points?")
            about |= {"points": float(points), "cell_type": cell_type}
        new = getattr(v4, f"new_{cell_type}_cell")
        book.cells.append(new(body, id=name[:64],
                              metadata={"nbgrader": about}))
    return book


def to_text(book):
    """Make a text of a notebook."""
    parts = []
    for cell in book.cells:
        about = cell.metadata["nbgrader"]
        mine = (cell.cell_type, about["grade"], about["locked"],
                about["solution"])
        kind = next(k for k, form in KINDS.items() if form == mine)
        name = about["grade_id"]
        if kind == "check":
            name = name.removeprefix("check-")
        points = f" {about['points']:g}" if about["grade"] else ""
        parts.append(f"%% {kind} {name}{points}\n{cell.source}\n")
    return "\n".join(parts)
