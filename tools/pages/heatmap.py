"""Pages with an interactive heatmap load its script once, from a file.

A notebook's output carries the script, so that it works anywhere. Here each
copy is taken out: one file serves all pages, and it is the newest one.
"""

import re

from qkv.explorer import SCRIPT

COPY = re.compile(r"(</qkv-attention>\s*)<script>.*?</script>", re.DOTALL)


def load(app, pagename, templatename, context, doctree):
    """Take the script out of a page's body; load the file in its place."""
    body, copies = COPY.subn(r"\1", context.get("body", ""))
    if copies:
        context["body"] = body
        app.add_js_file(SCRIPT.name, loading_method="defer")


def setup(app):
    """Register with Sphinx."""
    app.connect(
        "config-inited",
        lambda _, config: config.html_static_path.append(str(SCRIPT)),
    )
    app.connect("html-page-context", load)
