"""What the book adds to Sphinx: maths, search and the last touches to a page.

- `maths`: TeX becomes HTML while the pages are built, so that they need no
  script for it; TeX that KaTeX does not understand is a warning, and `make
  book` stops at warnings.
- `search`: Chinese words are found inside Chinese sentences.
- `coursework`: the problem sets, without solutions, to download.
- `heatmap`: the script of `qkv.explorer`, on the pages that need it.
- `finish`: what the theme leaves undone, repaired in the finished HTML.

`ledger` is no part of Sphinx: chapter 8 reads all verdicts with it.
"""

from pathlib import Path

from . import coursework, finish, heatmap, maths, search

STATIC = Path(__file__).parent / "static"


def setup(app):
    """Register the parts with Sphinx."""
    app.connect(
        "config-inited",
        lambda _, config: config.html_static_path.append(str(STATIC)),
    )
    for part in (maths, search, coursework, heatmap, finish):
        part.setup(app)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
