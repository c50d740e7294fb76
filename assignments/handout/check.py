"""python check.py ps1 [ITEM]: run a notebook from the top, list its checks.

Exits with 1 if a check (or that of ITEM alone) does not pass. Other inputs
than these decide about points.
"""

import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient


def main(name, wanted=None):
    """Print a line per check; return whether one failed."""
    path = Path(__file__).parent / name / f"{name}.ipynb"
    book = nbformat.read(path, 4)
    NotebookClient(book, timeout=120, allow_errors=True,
                   kernel_name="python3").execute(cwd=path.parent)
    failed = False
    for cell in book.cells:
        about = cell.metadata.get("nbgrader", {})
        item = about.get("grade_id", "").removeprefix("check-")
        if cell.cell_type != "code" or not about.get("grade"):
            continue
        if wanted in (None, item):
            errors = [f"{o.ename}: {o.evalue}" for o in cell.outputs
                      if o.output_type == "error"]
            print(f"{item}: {errors[0] if errors else 'passes'}")
            failed |= bool(errors)
    return failed


if __name__ == "__main__":
    if not 2 <= len(sys.argv) <= 3:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
