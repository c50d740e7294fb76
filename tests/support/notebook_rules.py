"""The rules every notebook of the book keeps, one named check each.

A rule takes a notebook and its path and returns a list of problems, each
naming its cell (0 is the first). ``RULES`` holds them by name, and

    python tests/support/notebook_rules.py book/*.ipynb

prints what they find. The forms below were chosen because they read well in
JupyterLab, VS Code, Colab, on GitHub and on the site:

========= ==================================================================
link      ``[text](02-title.ipynb#a-heading)``, ``[text](#a-heading)``;
          the site resolves it, other readers open the notebook. An anchor is
          the heading as GitHub spells it: lower case, punctuation gone,
          spaces to hyphens, mathematics left out. `_config.yml` needs
          ``myst_heading_anchors``. A ``(label)=`` target would show raw.
glossary  ``[text](glossary.md#query)``: an entry is a heading, because the
          site cannot find an entry of a glossary directive that way.
figure    caption, name and alt text in the cell's metadata:
          ``{"mystnb": {"image": {"alt": …}, "figure": {"caption": …,
          "name": "fig-…"}}}``. Only the site shows them;
          ``[figure](#fig-…)`` is a link on the site alone.
citation  ``{cite}`key```, the one role: it stays readable where it is raw.
fold      ``<details>``, ``<summary>plain words</summary>``, a blank line,
          Markdown without headings, a blank line, ``</details>``.
Chinese   ``<span lang="zh">…</span>`` is allowed in running text.
========= ==================================================================
"""

import ast
import builtins
import functools
import html
import itertools
import json
import operator
import re
import sys
from pathlib import Path
from urllib.parse import unquote

import yaml
from markdown_it import MarkdownIt
from mdit_py_plugins.dollarmath import dollarmath_plugin
from myst_parser.mdit_to_docutils.base import default_slugify
from nbformat import v4
from nbformat.validator import iter_validate

RULES = {}
PLAIN = MarkdownIt("commonmark").enable("table")
MATHS = MarkdownIt("commonmark").enable("table").use(dollarmath_plugin)
VERDICTS = "application/vnd.qkv.verdicts+json"
COMPARE = {
    ">=": operator.ge, "<=": operator.le, ">": operator.gt, "<": operator.lt
}  # fmt: skip


def rule(check):
    """Register a generator of problems as the rule of its name."""

    @functools.wraps(check)
    def run(nb, path):
        return list(check(nb, Path(path)))

    RULES[check.__name__] = run
    return run


# Reading a notebook --------------------------------------------------------


def read(path):
    """Read a notebook as it is on disk: nbformat.read would repair it."""
    return v4.reads(Path(path).read_text(encoding="utf-8"))


def cells(nb, kind):
    return [(i, c) for i, c in enumerate(nb.cells) if c.cell_type == kind]


def tags(cell):
    return cell.metadata.get("tags", [])


def is_chapter(path):
    """A chapter; primer and summary are free in form."""
    return path.name[:2].isdigit() and path.name[:2] not in ("00", "08")


def parse(cell):
    """The cell's syntax tree, or None where it is not plain Python."""
    try:
        return ast.parse(cell.source)
    except SyntaxError:
        return None


def texts(output, *, compared=False):
    """The parts of an output that are text; what nbval compares of them."""
    if output.output_type == "stream":
        return [output.text]
    if output.output_type == "error":
        parts = [] if compared else output.traceback
        parts = [output.ename, output.evalue, *parts]
        return [re.sub(r"\x1b\[[\d;]*m", "", part) for part in parts]
    data = {k: v for k, v in output.data.items() if "image/" not in k}
    if not compared:
        data |= {k: v for k, v in output.data.items() if "svg" in k}
    else:
        page = data.get("text/html", "")
        data["text/html"] = html.unescape(re.sub(r"<[^>]+>", " ", page))
    return [v if isinstance(v, str) else json.dumps(v) for v in data.values()]


def outputs(nb):
    return [(i, c, out) for i, c in cells(nb, "code") for out in c.outputs]


def headings(source):
    """Pairs of level and inline token."""
    tokens = MATHS.parse(source)
    return [
        (int(token.tag[1]), tokens[k + 1])
        for k, token in enumerate(tokens)
        if token.type == "heading_open"
    ]


def all_headings(nb):
    return [
        (i, *heading)
        for i, cell in cells(nb, "markdown")
        for heading in headings(cell.source)
    ]


@functools.cache
def config(book):
    path = book.parent / "_config.yml"
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def anchors(path, source=None):
    """Anchors of a page's headings, as the build makes them."""
    if source is None and path.suffix == ".ipynb":
        source = markdown(read(path))
    elif source is None:
        source = path.read_text(encoding="utf-8")
    settings = config(path.parent).get("sphinx", {}).get("config", {})
    deepest, found = settings.get("myst_heading_anchors") or 0, []
    for level, inline in headings(source):
        kept = [
            t.content
            for t in inline.children
            if t.type in ("text", "code_inline")
        ]
        slug, n = default_slugify("".join(kept)), 1
        while slug in found:
            slug, n = f"{slug}-{n}", n + 1
        found += [slug] * (level <= deepest)
    return found


def markdown(nb):
    return "\n\n".join(c.source for _, c in cells(nb, "markdown"))


def figure(cell):
    """Alt text, caption and name from the cell's metadata."""
    meta = cell.metadata.get("mystnb", {})
    fig = meta.get("figure", {})
    alt = meta.get("image", {}).get("alt", "")
    return alt, fig.get("caption", ""), fig.get("name", "")


# Executed, valid, clean ----------------------------------------------------


def must_show(statement, last):
    """Whether a top-level statement surely leaves an output."""
    if not isinstance(statement, ast.Expr):
        return False
    if isinstance(statement.value, ast.Call):
        name = ast.unparse(statement.value.func)
        return name in ("print", "display")
    return last


@rule
def executed(nb, path):
    """Run top to bottom, and committed with what it showed."""
    code = cells(nb, "code")
    for n, (i, cell) in enumerate(code, 1):
        count = cell.get("execution_count")
        if not cell.source.strip():
            yield f"cell {i}: empty"
        if count != n:
            yield f"cell {i}: execution count {count}, expected {n}"
        for out in cell.outputs:
            if out.get("execution_count", count) != count:
                yield f"cell {i}: its output is from another execution"
        body = getattr(parse(cell), "body", [])
        loud = not cell.source.rstrip().endswith(";")
        shows = [must_show(s, loud and s is body[-1]) for s in body]
        if any(shows) and not cell.outputs:
            yield f"cell {i}: shows something, but its output is missing"
    if not any(cell.outputs for _, cell in code):
        yield "the notebook has no outputs"


@rule
def valid(nb, path):
    """Valid nbformat, kernel python3, nothing volatile in the metadata."""
    for error in iter_validate(nb):
        yield f"invalid notebook: {error.message[:200]}"
    if nb.metadata.get("kernelspec", {}).get("name") != "python3":
        yield "the kernel is not python3"
    if "widgets" in nb.metadata or "widget-view" in json.dumps(nb):
        yield "holds widget state"
    seen = set()
    for i, cell in enumerate(nb.cells):
        if "execution" in cell.metadata:
            yield f"cell {i}: has metadata.execution"
        if cell.get("id") in {None, *seen}:
            yield f"cell {i}: its id is missing or used before"
        seen.add(cell.get("id"))


LEAKS = {
    "an absolute path": r"(?<![\w.:/])/(home|tmp|Users|root|work|usr|opt|var"
    r"|private|mnt|content)/|\b[A-Z]:\\|site-packages|(?<!\w)~/",
    "a memory address": r"\b0x[0-9a-fA-F]{6,}",
    "a warning": r"\b\w*Warning\b|\bwarnings?\.warn\b",
}


@rule
def clean_outputs(nb, path):
    """No stderr, no unannounced error, nothing of the author's machine."""
    for i, cell, out in outputs(nb):
        if out.get("name") == "stderr":
            yield f"cell {i}: writes to stderr"
        error = out.output_type == "error"
        if error and "raises-exception" not in tags(cell):
            yield f"cell {i}: an error, but no tag raises-exception"
        for what, pattern in LEAKS.items():
            for text in texts(out):
                if match := re.search(pattern, text):
                    around = text[max(0, match.start() - 20) :][:60]
                    yield f"cell {i}: shows {what}: {around!r}"
    for i, cell in cells(nb, "code"):
        kinds = [out.output_type for out in cell.outputs]
        if "raises-exception" in tags(cell) and "error" not in kinds:
            yield f"cell {i}: tagged raises-exception, but raises nothing"


UNSTABLE = {
    "a timing": r"(?i)(took|elapsed|time|seconds|per loop).*?\d\s?([mµun]?s"
    r"|sec(ond)?s?|min(ute)?s?)\b|\d\s?([mµun]?s|sec(ond)?s?|min(ute)?s?)\b"
    r".*?(took|elapsed|time|per loop)",
    "a progress bar": r"\r|\d%\||\bit/s\b|s/it\b",
    "more than five decimals": r"\d\.\d{6,}",
    "minus zero": r"(?<![\w.])[-−]0(\.0*)?(?![\d.\w])",
}


@rule
def compared_outputs(nb, path):
    """What nbval compares is the same on every machine."""
    code = cells(nb, "code")
    for k, (i, cell) in enumerate(code):
        if "nbval-ignore-output" in tags(cell):
            near = [parse(c) for _, c in code[k : k + 2]]
            nodes = [n for tree in near if tree for n in ast.walk(tree)]
            if not any(isinstance(n, ast.Assert) for n in nodes):
                yield (
                    f"cell {i}: tagged nbval-ignore-output, but neither it"
                    " nor the next code cell asserts anything"
                )
            continue
        for out in cell.outputs:
            for text in texts(out, compared=True):
                for what, pattern in UNSTABLE.items():
                    if match := re.search(pattern, text):
                        yield f"cell {i}: prints {what}: {match[0]!r}"


# Markdown that reads everywhere --------------------------------------------


RAW = re.compile(
    r"^\s*(:::|%\s|\+\+\+|\([\w-]+\)=\s*$)"  # directive, comment, target
    r"|\{[\w:+-]+\}`|\{\{|\{[.#][\w-]+|\[\^|^\s*\\begin\{",
    re.MULTILINE,
)
HTML = re.compile(r"<(a|img|script|style|iframe)\b", re.IGNORECASE)


@rule
def plain_markdown(nb, path):
    """A CommonMark reader sees no directive and no role but {cite}."""
    for i, cell in cells(nb, "markdown"):
        page = PLAIN.render(cell.source)
        for fence in re.findall(r'"language-(\{[^"]*)', page):
            yield f"cell {i}: a block directive: {html.unescape(fence)}"
        for role in re.findall(r"\{([\w:+-]+)\}<code>", page):
            if role != "cite":
                yield f"cell {i}: the role {{{role}}}"
        page = re.sub(r"(?s)<(pre|code)\b.*?</\1>", "", page)
        page = re.sub(r"(?s)\$\$.+?\$\$|\$[^$\n]+\$", "", page)
        page = html.unescape(re.sub(r"<[^>]+>", "", page))
        for match in RAW.finditer(page):
            line = page[match.start() :].lstrip().split("\n")[0]
            yield f"cell {i}: shows raw: {line[:60]!r}"
        if re.search(r"https?://\S", bare_text(cell.source)):
            yield f"cell {i}: a bare address; write [text](address)"
        if match := HTML.search(page_html(cell.source)):
            yield f"cell {i}: raw HTML {match[0]}>; use Markdown"


def inline_tokens(source, md=MATHS):
    """Inline tokens of a cell, each with whether it is inside a link."""
    for block in md.parse(source):
        depth = 0
        for token in block.children or []:
            depth += token.nesting if token.type.startswith("link") else 0
            yield token, depth > 0


def bare_text(source):
    tokens = inline_tokens(source)
    return " ".join(
        t.content for t, linked in tokens if t.type == "text" and not linked
    )


def page_html(source):
    """The cell's raw HTML."""
    blocks = [t for t in MATHS.parse(source) if t.type == "html_block"]
    inlines = [t for t, _ in inline_tokens(source) if t.type == "html_inline"]
    return "\n".join(t.content for t in blocks + inlines)


OPEN = r"<details[^>]*>\s*<summary>(?P<words>[^\n]+)</summary>\s*"


@rule
def folds(nb, path):
    """<details> open and close in one cell, and Markdown parses inside."""
    for i, cell in cells(nb, "markdown"):
        depth = 0
        for token in MATHS.parse(cell.source):
            if token.type == "heading_open" and depth:
                yield f"cell {i}: a heading inside <details>"
            if token.type != "html_block":
                continue
            block = token.content.strip()
            if match := re.fullmatch(OPEN, block):
                depth += 1
                if re.search(r"[`$*]|\]\(", match["words"]):
                    yield f"cell {i}: Markdown in a summary shows raw"
            elif re.fullmatch(r"(</details>\s*)+", block):
                depth -= block.count("</details>")
            elif re.search(r"</?(details|summary)\b", block):
                yield (
                    f"cell {i}: blank lines must part <details> and its"
                    f" summary from the text: {block[:60]!r}"
                )
            if depth < 0:
                yield f"cell {i}: </details> before <details>"
        if depth > 0:
            yield f"cell {i}: <details> is not closed"


@rule
def links(nb, path):
    """Links lead to pages of the book, to headings and figures in them."""
    book = path.parent.resolve()
    own = anchors(path, markdown(nb))
    own += [figure(cell)[2] for _, cell in cells(nb, "code")]
    for i, cell in cells(nb, "markdown"):
        for token, _ in inline_tokens(cell.source):
            if token.type == "image" and len(token.content) < 40:
                yield f"cell {i}: an image without a telling alt text"
            href = token.attrGet("href") or token.attrGet("src") or ""
            if href.startswith("http://"):
                yield f"cell {i}: not https: {href}"
            if not href or re.match(r"[a-z]+:", href):
                continue
            name, _, anchor = unquote(href).partition("#")
            page = (book / name).resolve() if name else path
            if name and not (page.is_file() and page.is_relative_to(book)):
                yield f"cell {i}: {name} is not in {book.name}/"
                continue
            if anchor and anchor not in (anchors(page) if name else own):
                yield f"cell {i}: no heading for the link {unquote(href)}"


@rule
def style(nb, path):
    """No tabs, no trailing blanks."""
    for i, cell in enumerate(nb.cells):
        for n, line in enumerate(cell.source.split("\n"), 1):
            if "\t" in line:
                yield f"cell {i}, line {n}: a tab"
            if line != line.rstrip():
                yield f"cell {i}, line {n}: trailing blanks"
        if cell.source != cell.source.strip("\n"):
            yield f"cell {i}: starts or ends with an empty line"


# Code ----------------------------------------------------------------------


# What opens the network is refused by ruff (banned-api in pyproject.toml).
OUTSIDE = {"datasets", "subprocess", "transformers"}
FORBIDDEN = r"\bsys\.path\b|\b(environ|getenv|putenv|get_ipython)\b" + (
    r"|\b(filterwarnings|simplefilter|catch_warnings)\b"
)


def imports(tree):
    """Dotted names of what a syntax tree imports."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        if isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{a.name}" for a in node.names)


@rule
def code(nb, path):
    """Short cells of plain Python that leave the machine alone."""
    for i, cell in cells(nb, "code"):
        lines = cell.source.splitlines()
        if len(lines) > 20:
            yield f"cell {i}: {len(lines)} lines, at most 20"
        for n, line in enumerate(lines, 1):
            if len(line) > 79 and "://" not in line.split()[-1]:
                yield f"cell {i}, line {n}: {len(line)} columns, at most 79"
        for match in re.finditer(FORBIDDEN, cell.source):
            yield f"cell {i}: uses {match[0]}"
        if i == 0 and "remove-cell" in tags(cell):
            continue
        if (tree := parse(cell)) is None:
            yield f"cell {i}: not plain Python (a magic, a shell line?)"
            continue
        for name in imports(tree):
            if name.split(".")[0] in OUTSIDE:
                yield f"cell {i}: imports {name}"


LIVE = re.compile(
    r"(numpy|math)(\..+)?|qkv|qkv\.(reference|masks|blockwise)(\..+)?"
    r"|qkv\.\w+_mask"
)


@rule
def live(nb, path):
    """Live cells run by themselves, in order, with NumPy alone."""
    known = {*dir(builtins), "display"}
    for i, cell in cells(nb, "code"):
        if "live" not in tags(cell) or not (tree := parse(cell)):
            continue
        wanted = set()
        for name in imports(tree):
            if not LIVE.fullmatch(name):
                yield f"cell {i}: live, but imports {name}"
        for node in ast.walk(tree):
            if isinstance(node, ast.Name):
                loads = isinstance(node.ctx, ast.Load)
                (wanted if loads else known).add(node.id)
            elif isinstance(node, ast.alias):
                known.add(node.asname or node.name.split(".")[0])
            elif isinstance(node, ast.arg):
                known.add(node.arg)
            elif isinstance(node, ast.Attribute):
                name = ast.unparse(node)
                if re.fullmatch(r"qkv\.\w+", name) and not LIVE.fullmatch(
                    name
                ):
                    yield f"cell {i}: live, but uses {name}"
            elif hasattr(node, "name") and node.name:
                known.add(node.name)  # def, class, except … as
        for name in sorted(wanted - known):
            yield f"cell {i}: live, but no live cell so far defines {name}"


@rule
def install_cell(nb, path):
    """Cell 0, hidden, installs from the repository of _config.yml."""
    cell = nb.cells[0] if nb.cells else None
    if not cell or cell.cell_type != "code" or "remove-cell" not in tags(cell):
        yield "cell 0: not a code cell with the tag remove-cell"
        return
    url = config(path.parent.resolve())["repository"]["url"]
    found = re.findall(r"https?://[^\s\"'#@]+", cell.source)
    if not found:
        yield f"cell 0: does not name {url}"
    for other in found:
        if not re.match(re.escape(url) + r"(\.git)?(/|$)", other):
            yield f"cell 0: {other} is not the repository {url}"
    for line in re.findall(r"^\s*[%!].*", cell.source, re.MULTILINE):
        if not re.match(r"\s*(%pip |!git clone |%cd )", line):
            yield f"cell 0: {line.strip()!r} installs nothing"


# Figures, rhythm, verdicts --------------------------------------------------


@rule
def figures(nb, path):
    """Each figure has alt text, a caption and a name of its own."""
    names = set()
    for i, cell in cells(nb, "code"):
        shown = [" ".join(out.get("data", {})) for out in cell.outputs]
        images = [kinds for kinds in shown if "image/" in kinds]
        if not images:
            continue
        alt, caption, name = figure(cell)
        if len(images) > 1:
            yield f"cell {i}: {len(images)} images; one to a cell"
        if len(alt) < 40 or re.search(r"\.(png|svg|jpe?g)\b", alt):
            yield f"cell {i}: alt text must say what the figure shows: {alt!r}"
        if not caption or alt == caption:
            yield f"cell {i}: needs a caption that is not its alt text"
        if not re.fullmatch(r"fig(-[a-z0-9]+)+", name):
            yield f"cell {i}: its name {name!r} is not of the form fig-x-y"
        if name in names:
            yield f"cell {i}: the name {name} is used before"
        names.add(name)


PARTS = (
    "Verdict", "Common mistakes", "Exercises", "Self-check", "Further reading"
)  # fmt: skip


def quotes(source):
    """The text of a cell's block quotes."""
    depth = 0
    for token in MATHS.parse(source):
        depth += token.nesting * token.type.startswith("blockquote")
        if depth and token.type == "inline":
            yield token.content


@rule
def rhythm(nb, path):
    """Title, the reader's three lines, and the parts of a chapter."""
    if not re.fullmatch(r"\d\d(-[a-z0-9]+)+", path.stem):
        yield f"the file's name {path.name} is not NN-kebab-title.ipynb"
    prose, heads = cells(nb, "markdown"), all_headings(nb)
    if not prose or not prose[0][1].source.startswith("# "):
        yield "the first Markdown cell does not start with the title"
    elif not all(w in prose[0][1].source for w in ("minutes", "seconds")):
        yield f"cell {prose[0][0]}: minutes to read, seconds to run missing"
    if [level for _, level, _ in heads].count(1) != 1:
        yield "there must be one heading of the first level"
    for (_, before, _), (i, level, inline) in itertools.pairwise(heads):
        if level > before + 1:
            yield f"cell {i}: {inline.content!r} skips a level"
    if not is_chapter(path):
        return
    claims = [quote for _, cell in prose for quote in quotes(cell.source)]
    if not re.search(r"[\u4e00-\u9fff]", " ".join(claims)):
        yield "no block quote gives the claim and its line in Chinese"
    for part in PARTS:
        if not any(part in inline.content for _, _, inline in heads):
            yield f"no heading says {part!r}"


@rule
def verdicts(nb, path):
    """Each verdict follows from its rule, and flips on its null control."""
    bundles = [(i, out.get("data", {})) for i, _, out in outputs(nb)]
    rows = [
        (i, row)
        for i, data in bundles
        for row in json.loads(data.get(VERDICTS, "[]"))
    ]
    if is_chapter(path) and not rows:
        yield f"no output holds {VERDICTS}"
    for i, row in rows:
        where = f"cell {i}, {row.get('claim', 'a claim')}"
        keys = {"claim", "measured", "value", "null", "rule", "verdict"}
        if missing := keys - set(row):
            yield f"{where}: lacks {', '.join(sorted(missing))}"
            continue
        line = "{value} {null} {rule}".format_map(row)
        match = re.fullmatch(r"≈?(\S+) ≈?(\S+) (>=|<=|>|<) (\S+)", line)
        try:
            value, null, bound = (float(match[k]) for k in (1, 2, 4))
        except (TypeError, ValueError):
            yield f"{where}: unclear: {line}"
            continue
        obeys = COMPARE[match[3]]
        if obeys(value, bound) == obeys(null, bound):
            yield f"{where}: the null control gives the same verdict"
        holds = obeys(value, bound)
        word = r"holds(, if .+)?" if holds else "does not hold"
        if not re.fullmatch(word, row["verdict"]):
            yield f"{where}: {row['verdict']!r} does not follow from the rule"


def problems(path):
    """All problems of the notebook at path, as (rule, problem)."""
    nb = read(path)
    return [
        (name, p) for name, run in RULES.items() for p in run(nb, Path(path))
    ]


if __name__ == "__main__":
    found = [(path, *p) for path in sys.argv[1:] for p in problems(path)]
    for path, name, problem in found:
        print(f"{path}: {name}: {problem}")
    print(f"{len(found)} problems in {len(sys.argv) - 1} notebooks")
    sys.exit(bool(found))
