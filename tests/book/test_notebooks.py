"""Every notebook keeps every rule, and every rule can refuse a notebook."""

import copy
import json
import re
from pathlib import Path

import pytest
from nbformat import v4

import notebook_rules as rules

BOOK = Path(__file__).parents[2] / "book"
NOTEBOOKS = sorted(BOOK.glob("*.ipynb"))
URL = "https://example.org/owner/book"


def test_the_notebooks_are_found():
    assert NOTEBOOKS, f"no notebooks in {BOOK}"


@pytest.mark.parametrize("name", rules.RULES)
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook(path, name):
    found = rules.RULES[name](rules.read(path), path)
    assert not found, "\n" + "\n".join(found)


# A good notebook ------------------------------------------------------------

FOLD = "<details>\n<summary>Answer</summary>\n\n$x^2$ is **it**.\n\n</details>"
INSTALL = (
    "try:\n    import qkv\nexcept ImportError:\n"
    f'    %pip install -q "qkv @ git+{URL}"'
)
TITLE = """# What does a good chapter look like?

You will check rules. You need nothing. 3 minutes to read, 2 seconds to run.

> Attention weights sum to 1.
>
> <span lang="zh">注意力权重之和为 1。</span>"""
END = f"""## Exercises

{FOLD}

### Self-check

{FOLD}

{FOLD}

## Further reading

{{cite}}`key`, the [query](glossary.md#query), [above](#verdict-for-now),
[a site](https://example.org) and $\\{{a\\}}$."""
ALT = "Four rows of weights; each row is darkest on its own diagonal."
ROW = {
    "claim": "C1.1", "measured": "accuracy", "value": "0.950", "null": "≈0.51",
    "rule": ">= 0.9", "verdict": "holds",
}  # fmt: skip


def add(nb, source, *outputs, tags=(), **metadata):
    """Append a code cell as if it had been run."""
    n = sum(cell.cell_type == "code" for cell in nb.cells) + 1
    metadata |= {"tags": list(tags)} if tags else {}
    nb.cells.append(
        v4.new_code_cell(
            source,
            id=f"code-{n}",
            execution_count=n,
            outputs=list(outputs),
            metadata=metadata,
        )
    )


def say(nb, source):
    n = len(nb.cells)
    nb.cells.append(v4.new_markdown_cell(source, id=f"text-{n}"))


def stream(text, name="stdout"):
    return v4.new_output("stream", name=name, text=text)


def shown(**data):
    data = {kind.replace("_", "/"): value for kind, value in data.items()}
    return v4.new_output("display_data", data)


def verdict(*rows):
    return v4.new_output("display_data", {rules.VERDICTS: json.dumps(rows)})


def error(text="ValueError: 3 heads do not divide d_model 8"):
    name, _, value = text.partition(": ")
    return v4.new_output("error", ename=name, evalue=value, traceback=[text])


def add_figure(nb, name="fig-weights", alt=ALT, caption="Weights, hand-set."):
    image, meta = shown(image_png="AAAA"), {"image": {"alt": alt}}
    add(nb, "draw(a)", image, mystnb=meta | {
        "figure": {"caption": caption, "name": name},
    })  # fmt: skip


@pytest.fixture
def path(tmp_path):
    """Where the good notebook would lie: a book with a glossary."""
    book = tmp_path / "book"
    book.mkdir()
    (book / "glossary.md").write_text("# Glossary\n\n## Query\n")
    (tmp_path / "_config.yml").write_text(
        f"repository: {{url: {URL}}}\n"
        "sphinx: {config: {myst_heading_anchors: 3}}\n"
    )
    return book / "01-good.ipynb"


@pytest.fixture
def good():
    nb = v4.new_notebook()
    nb.metadata.kernelspec = {"name": "python3", "display_name": "Python 3"}
    add(nb, INSTALL, tags=["remove-cell"])
    say(nb, TITLE)
    add(
        nb,
        "import numpy as np\n\na = np.ones(2) / 2\nprint(a)",
        stream("[0.5 0.5]\n"),
        tags=["live"],
    )
    say(nb, "The figure shows `a`.")
    add_figure(nb)
    say(nb, "## Verdict for now")
    add(nb, "show(row)", verdict(ROW))
    say(nb, "## Common mistakes\n\nIn `{note}` we say so:\n\n    :::\n    x")
    add(nb, "split(3)", error(), tags=["raises-exception"])
    say(nb, END)
    return nb


@pytest.mark.parametrize("name", rules.RULES)
def test_the_good_notebook_passes(name, good, path):
    path.write_text(v4.writes(good), encoding="utf-8")
    assert rules.RULES[name](rules.read(path), path) == []


GOOD_TOO = {
    "compared_outputs": [
        lambda nb: add(nb, "train()\nassert True", stream("took 3.1 s\n"),
                       tags=["nbval-ignore-output"]),
        lambda nb: add(nb, "f()", stream("-0.05 -0.12 2.5e-07 1-0 3 s\n")),
    ],
    "executed": [
        lambda nb: add(nb, "ax.plot(a);"),
        lambda nb: add(nb, "a[0];"),
        lambda nb: add(nb, "a.sort()"),
    ],
    "live": [
        lambda nb: add(nb, "from qkv import reference\n\n"
                       "def f(x):\n    return reference.softmax(x + a)",
                       tags=["live"]),
    ],
    "links": [
        lambda nb: say(nb, f"![{ALT}](glossary.md)"),
        lambda nb: say(nb, "[it](#fig-weights)"),
    ],
    "plain_markdown": [lambda nb: say(nb, "`{ref}` or <https://a.org>")],
    "verdicts": [
        lambda nb: add(nb, "v()", verdict(ROW | {
            "rule": "<= 2e-1", "value": "≈0.6", "null": "-0.1",
            "verdict": "does not hold"})),
        lambda nb: add(nb, "v()", verdict(ROW | {
            "verdict": "holds, if the model is trained"})),
    ],
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "change"), [(k, v) for k in GOOD_TOO for v in GOOD_TOO[k]]
)
def test_what_a_rule_allows(name, change, good, path):
    change(good)
    assert rules.RULES[name](good, path) == []


# Bad ones: what is changed, and what the rule says --------------------------


def strip(nb):
    for cell in nb.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None


def swap(nb):
    nb.cells[2], nb.cells[4] = nb.cells[4], nb.cells[2]


def change(i, **fields):
    return lambda nb: nb.cells[i].update(fields)


def replace(i, old, new):
    def change(nb):
        assert old in nb.cells[i].source
        nb.cells[i].source = nb.cells[i].source.replace(old, new)

    return change


def run(source="f()", *outputs, **kwargs):
    return lambda nb: add(nb, source, *copy.deepcopy(outputs), **kwargs)


def put(text):
    return run("f()", stream(text))


def text(source):
    return lambda nb: say(nb, source)


def plot(**kwargs):
    return lambda nb: add_figure(nb, **kwargs)


def judge(**row):
    return run("v()", verdict(ROW | row))


IGNORED = ["nbval-ignore-output"]
BAD = {
    "executed": [
        (strip, "no outputs"),
        (strip, "cell 0: execution count None, expected 1"),
        (swap, "cell 2: execution count 3, expected 2"),
        (change(2, outputs=[]), "cell 2: .* output is missing"),
        (change(2, execution_count=7), "count 7"),
        (run("a"), "output is missing"),
        (run("a[0] + 1"), "output is missing"),
        (run("print(a)\nb = 1"), "output is missing"),
        (run(""), "empty"),
        (run("a", v4.new_output("execute_result", {}, execution_count=9)),
         "another execution"),
    ],
    "valid": [
        (lambda nb: nb.metadata.kernelspec.update(name="venv"), "python3"),
        (lambda nb: nb.metadata.pop("kernelspec"), "python3"),
        (lambda nb: nb.metadata.update(widgets={}), "widget"),
        (run("f()", execution={}), "metadata.execution"),
        (change(3, id="code-1"), "cell 3: its id"),
        (lambda nb: nb.cells[3].pop("id"), "cell 3: its id"),
        (change(3, cell_type="prose"), "invalid notebook"),
    ],
    "clean_outputs": [
        (run("f()", stream("hm", "stderr")), "stderr"),
        (run("f()", error()), "raises-exception"),
        (run("f()", tags=["raises-exception"]), "raises nothing"),
        (put("read /home/ann/x"), "absolute path"),
        (put("'/tmp/x'"), "absolute path"),
        (put(r"C:\Users"), "absolute path"),
        (put("lib/site-packages/x"), "absolute path"),
        (run("f()", error("E: File ~/x.py"), tags=["raises-exception"]),
         "absolute path"),
        (run("f()", shown(text_plain="<f at 0x7f00deadbeef>")), "address"),
        (put("x.py:3: UserWarning: old"), "a warning"),
    ],
    "compared_outputs": [
        (put("took 3.1 s"), "timing"),
        (put("12 ms per loop"), "timing"),
        (put("Elapsed time: 4 seconds"), "timing"),
        (put(" 30%|###   |"), "progress"),
        (put("1\r2"), "progress"),
        (put("0.123456"), "decimals"),
        (run("f()", shown(text_html="<td>0.1234567</td>")), "decimals"),
        (judge(value="0.9512345"), "decimals"),
        (put("[-0.  1.]"), "minus zero"),
        (put("x = -0.000,"), "minus zero"),
        (run("f()", stream("0.71"), tags=IGNORED), "nor the next"),
    ],
    "plain_markdown": [
        (text("```{note}\nx\n```"), "directive: {note}"),
        (text("~~~{figure} x.png\n~~~"), "directive"),
        (text(":::{tip}\nx\n:::"), "raw: ':::{tip}'"),
        (text("(target)=\n## Heading"), "raw"),
        (text("See {ref}`x`."), "role {ref}"),
        (text("A {term}`key`, {math}`x`."), "role {term}"),
        (text("{cite:t}`key`"), "cite:t"),
        (text("% a comment"), "raw"),
        (text("One[^1]."), "raw"),
        (text("{{ version }}"), "raw"),
        (text("# H {#id}"), "raw"),
        (text("At https://example.org now"), "bare address"),
        (text('<a href="x">x</a>'), "raw HTML <a>"),
        (text('<img src="x.png">'), "raw HTML <img>"),
    ],
    "folds": [
        (text(FOLD.replace("</details>", "")), "not closed"),
        (text(FOLD.replace("<details>\n<summary>Answer</summary>", "")),
         "before <details>"),
        (text(FOLD.replace("\n\n$x", "\n$x")), "blank lines"),
        (text(FOLD.replace("\n\n</", "</")), "not closed"),
        (text(FOLD.replace("<summary>Answer</summary>", "")), "blank lines"),
        (text(FOLD.replace("$x", "### H\n\n$x")), "heading inside"),
        (text(FOLD.replace("Answer", "`x`")), "in a summary"),
    ],
    "links": [
        (text("[x](missing.ipynb)"), "missing.ipynb is not in book/"),
        (text("[x](../_config.yml)"), "not in book/"),
        (text("[x](glossary.md#key)"), "no heading .*#key"),
        (text("[x](#Verdict)"), "no heading"),
        (text("[x](#fig-none)"), "no heading"),
        (text("[x](http://example.org)"), "not https"),
        (text("![a](glossary.md)"), "alt text"),
    ],
    "style": [
        (text("a\tb"), "tab"),
        (text("a  \nb"), "line 1: trailing"),
        (run("a = 1\n"), "empty line"),
    ],
    "code": [
        (run("a = 1\n" * 21), "21 lines"),
        (run("a = " + "1" * 76), "80 columns"),
        (run("import sys\nsys.path.append('x')"), "sys.path"),
        (run("import os\nos.environ['A'] = ''"), "environ"),
        (run("import warnings\nwarnings.simplefilter('ignore')"), "simplef"),
        (run("%matplotlib inline"), "magic"),
        (run("!ls"), "shell"),
        (run("import subprocess"), "imports subprocess"),
        (run("from datasets import load_dataset"), "imports datasets"),
    ],
    "live": [
        (run("import torch", tags=["live"]), "imports torch"),
        (run("from qkv import KVCache", tags=["live"]), "imports qkv.KVC"),
        (run("import qkv\nqkv.MultiHeadAttention(8, 2)", tags=["live"]),
         "uses qkv.MultiHeadAttention"),
        (run("plt.plot(a)", tags=["live"]), "defines plt"),
        (lambda nb: (run("b = 1")(nb), run("b + a", tags=["live"])(nb)),
         "defines b"),
    ],
    "install_cell": [
        (lambda nb: nb.cells.pop(0), "cell 0"),
        (lambda nb: nb.cells[0].metadata.pop("tags"), "remove-cell"),
        (replace(0, URL, "https://example.org/fork/book"), "fork"),
        (replace(0, URL, URL + "s"), "books is not the repository"),
        (replace(0, f"git+{URL}", "x"), "does not name"),
        (replace(0, "%pip", "!pip"), "installs nothing"),
    ],
    "figures": [
        (plot(name="fig-b", alt="Weights"), "alt text"),
        (plot(name="fig-b", alt="0a1b" * 12 + ".png"), "alt text"),
        (plot(name="fig-b", caption=""), "caption"),
        (plot(name="fig-b", caption=ALT), "caption"),
        (plot(name="weights"), "not of the form"),
        (plot(), "used before"),
        (run("draw()", shown(image_png="A")), "alt text"),
        (run("draw()", shown(image_png="A"), shown(image_png="B")),
         "2 images"),
    ],
    "rhythm": [
        (replace(1, "# What", "What"), "title"),
        (replace(1, "seconds", "s"), "cell 1: minutes"),
        (text("# Another"), "one heading of the first"),
        (text("## A\n\n#### B"), "skips"),
        (replace(1, "注意力权重之和为 1。", "sum"), "Chinese"),
        (replace(1, "> ", ""), "Chinese"),
        (replace(5, "Verdict", "Result"), "'Verdict'"),
        (replace(9, "Self-check", "Self check"), "'Self-check'"),
    ],
    "verdicts": [
        (lambda nb: nb.cells.pop(6), "no output holds"),
        (judge(null="0.93"), "null control"),
        (judge(verdict="does not hold"), "does not follow"),
        (judge(value="0.3", null="0.95"), "does not follow"),
        (judge(verdict="holds, if"), "does not follow"),
        (judge(rule="high"), "unclear"),
        (judge(value="high"), "unclear"),
        (run("v()", verdict({"claim": "C1"})), "C1: lacks measured, null"),
    ],
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "change", "says"),
    [(name, *case) for name in BAD for case in BAD[name]],
    ids=lambda x: x if isinstance(x, str) else "",
)
def test_the_rule_refuses(name, change, says, good, path):
    change(good)
    found = rules.RULES[name](good, path)
    assert re.search(says, "\n".join(found)), found


def test_each_rule_is_seen_to_refuse():
    assert set(BAD) == set(rules.RULES)


def test_file_name(good, path):
    name = path.with_name("1_Good.ipynb")
    assert "NN-kebab-title" in rules.RULES["rhythm"](good, name)[0]


# The twenty mistakes --------------------------------------------------------


def showing(mistake):
    """Yield each cell tagged as showing a mistake, with its chapter."""
    for path in NOTEBOOKS:
        for _, cell in rules.cells(rules.read(path), "code"):
            if f"mistake-{mistake}" in rules.tags(cell):
                yield path.name, cell


@pytest.mark.parametrize("mistake", range(1, 21))
def test_each_mistake_has_a_cell_that_asserts_its_symptom(mistake):
    """Kills a mistake that is only told, and a link to where it is not."""
    found = list(showing(mistake))
    assert found
    for name, cell in found:
        assert re.search(r"^\s*assert |assert_close\(", cell.source, re.M), (
            name
        )
    table = rules.markdown(rules.read(BOOK / "08-summary.ipynb"))
    row = re.search(rf"^\| {mistake} \|.*\]\(([^#)]+)", table, re.M)
    assert row and row[1] in {name for name, _ in found}
