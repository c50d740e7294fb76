"""A search that finds Chinese words inside Chinese sentences.

Chinese is written without spaces, so Sphinx's English search takes a whole
clause for one word and finds it only by all of its letters. Here each run of
Chinese characters is also indexed by its parts of up to four characters.
The query needs no change: what the reader types is one of the parts, or, if
longer, part of a run.
"""

import re

from sphinx.search.en import SearchEnglish

HAN = re.compile(r"[\u3400-\u9fff]+")
LONGEST = 4


class SearchEnglishChinese(SearchEnglish):
    """English, with Chinese words in between."""

    def split(self, text):
        """Return the words of `text` and the parts of its Chinese runs."""
        words = super().split(text)
        for run in HAN.findall(text):
            words += parts(run)
        return words


def parts(run, longest=LONGEST):
    """Return `run` and every piece of it of at most `longest` characters."""
    pieces = {
        run[i : i + n]
        for n in range(1, longest + 1)
        for i in range(len(run) - n + 1)
    }
    return sorted(pieces | {run})


def setup(app):
    """Take the place of Sphinx's English."""
    app.add_search_language(SearchEnglishChinese)
