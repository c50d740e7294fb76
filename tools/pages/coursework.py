"""Problem sets to download: the sources as students get them.

nbgrader makes the same release (a test compares both); here it takes a few
lines, and building the pages does not need nbgrader.
"""

import re
from pathlib import Path

import nbformat

SOURCE = Path(__file__).parents[2] / "assignments" / "source"
FOLDER = "book/problem-sets"
MINE = re.compile(
    r"^( *)### BEGIN SOLUTION\n.*?^ *### END SOLUTION *$",
    re.DOTALL | re.MULTILINE,
)
STUBS = {
    "code": r"\1# YOUR CODE HERE\n\1raise NotImplementedError()",
    "markdown": "YOUR ANSWER HERE",
}


def release(source):
    """Return a source notebook without solutions and without outputs."""
    for cell in source.cells:
        if cell.metadata.get("nbgrader", {}).get("solution"):
            stub = STUBS[cell.cell_type]
            cell.source, count = MINE.subn(stub, cell.source)
            if count != 1:
                raise ValueError(f"{cell.id}: {count} solutions are marked")
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    return source


def write(app, error):
    """Put each problem set beside the built pages."""
    if error or app.builder.format != "html":
        return
    folder = Path(app.outdir, FOLDER)
    folder.mkdir(parents=True, exist_ok=True)
    for path in sorted(SOURCE.glob("*/*.ipynb")):
        nbformat.write(release(nbformat.read(path, 4)), folder / path.name)


def setup(app):
    """Register with Sphinx."""
    app.connect("build-finished", write)
