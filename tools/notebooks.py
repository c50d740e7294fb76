"""Execute a notebook and write it without what differs from run to run.

Usage: notebooks.py execute SOURCE TARGET
"""

import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient

KERNEL = {
    "display_name": "Python 3",
    "language": "python",
    "name": "python3",
}


def execute(source, target):
    """Run `source` from top to bottom in its own folder; write `target`."""
    book = nbformat.read(source, as_version=4)
    client = NotebookClient(
        book,
        timeout=300,
        kernel_name="python3",
        coalesce_streams=True,
        resources={"metadata": {"path": str(Path(source).parent)}},
    )
    client.execute()
    tidy(book)
    nbformat.write(book, target)


def tidy(book):
    """Drop timestamps and versions, so that a rerun gives no diff."""
    book.metadata.kernelspec = KERNEL
    book.metadata.language_info = {"name": "python"}
    for cell in book.cells:
        for name in ("execution", "collapsed", "scrolled"):
            cell.metadata.pop(name, None)


if __name__ == "__main__":
    if len(sys.argv) != 4 or sys.argv[1] != "execute":
        sys.exit(__doc__)
    execute(sys.argv[2], sys.argv[3])
