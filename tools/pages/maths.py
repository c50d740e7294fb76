"""TeX becomes HTML and MathML while the book is built.

KaTeX runs in V8, inside this process (`mini_racer` is one wheel for each
platform): no Node.js, no socket, no network, and nothing for the reader's
browser to do. A page with maths loads one style sheet and the fonts it uses.
KaTeX itself comes in a package too (`requirements/katex.txt`, which pins it by
its SHA-256): its files are read, nothing of the package is imported.
"""

import re
import shutil
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from docutils import nodes
from sphinx.util import logging
from sphinx.util.math import get_node_equation_number

SHEET = "katex/katex.min.css"
logger = logging.getLogger(__name__)


def katex():
    """Return KaTeX's folder, which holds script, style sheet and fonts."""
    package = find_spec("djangocms_katex")
    if package is None:
        raise ModuleNotFoundError(
            "KaTeX is missing: pip install --no-deps -r requirements/katex.txt"
        )
    folder = Path(package.origin).parent
    return folder / "static" / "djangocms_katex" / "vendor" / "katex"


@cache
def engine():
    """Return a V8 that has read KaTeX."""
    from py_mini_racer import MiniRacer

    made = MiniRacer()
    made.eval((katex() / "katex.min.js").read_text(encoding="utf-8"))
    return made


@cache
def render(tex, display=False):
    """Return `tex` as HTML; ValueError says what KaTeX did not understand."""
    from py_mini_racer import JSEvalException

    options = {"displayMode": display, "throwOnError": True, "strict": "error"}
    try:
        made = engine().call("katex.renderToString", tex, options)
    except JSEvalException as error:
        said = next(
            (line for line in str(error).splitlines() if "KaTeX" in line),
            str(error),
        )
        raise ValueError(f"{said.strip()}: {tex!r}") from None
    # The TeX once more, for programs that copy it: a tenth of the bytes.
    return re.sub(r"<annotation .*?</annotation>", "", made, flags=re.S)


def html(tex, node, display=False):
    """Return `tex` as HTML, or as it is after a warning."""
    try:
        return render(tex, display)
    except ValueError as error:
        logger.warning("maths: %s", error, location=node, type="maths")
        return ""


def visit_inline(self, node):
    """Write one formula within a line."""
    self.body.append(self.starttag(node, "span", "", CLASS="math"))
    self.body.append(html(node.astext(), node) + "</span>")
    raise nodes.SkipNode


def visit_display(self, node):
    """Write one formula on a line of its own, with its number if any."""
    tex = node.astext().strip()
    if r"\\" in tex and r"\begin" not in tex:
        tex = rf"\begin{{split}}{tex}\end{{split}}"
    self.body.append(self.starttag(node, "div", CLASS="math"))
    if node["number"]:
        number = get_node_equation_number(self, node)
        self.body.append(f'<span class="eqno">({number})')
        self.add_permalink_ref(node, "Link to this equation")
        self.body.append("</span>")
    self.body.append(html(tex, node, display=True) + "</div>\n")
    raise nodes.SkipNode


def add_sheet(app, pagename, templatename, context, doctree):
    """Let pages with maths, and only those, load KaTeX's style sheet."""
    if doctree and next(doctree.findall(is_maths), None):
        app.add_css_file(SHEET)


def copy_sheet(app):
    """Put style sheet and fonts (WOFF2, all browsers take it) on the site."""
    target = Path(app.outdir) / "_static" / "katex"
    (target / "fonts").mkdir(parents=True, exist_ok=True)
    for file in ("katex.min.css", "LICENSE"):
        shutil.copy(katex() / file, target)
    for font in (katex() / "fonts").glob("*.woff2"):
        shutil.copy(font, target / "fonts")


def is_maths(node):
    """Tell whether a node is a formula."""
    return isinstance(node, nodes.math | nodes.math_block)


def setup(app):
    """Make this the renderer of maths: `html_math_renderer: katex`."""
    app.add_html_math_renderer(
        "katex", (visit_inline, None), (visit_display, None)
    )
    app.connect("builder-inited", copy_sheet)
    app.connect("html-page-context", add_sheet)
