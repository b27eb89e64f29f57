"""How text is read: the short way for most of it gives what the long one would."""

import unicodedata

from hypothesis import example, given, settings
from hypothesis import strategies as st

from ltm_bench.matchers.reading import READ, plain

STRAIGHT = str.maketrans("’‘ʼ“”„–—", "'''\"\"\"--")


@given(st.text(max_size=60) | st.text("aÉ’‘ʼ“”„–—…½ﷺŉſİΣς\u0301\x00 ", max_size=12))
@example("“It’s — well … fine”")
@settings(deadline=None)
def test_plain_text_has_neither_case_nor_accents_nor_curly_quotes(text: str) -> None:
    decomposed = unicodedata.normalize("NFKD", text.translate(STRAIGHT))
    assert plain(text) == "".join(c for c in decomposed if not unicodedata.combining(c)).casefold()


def test_plain_text_is_no_longer_than_what_is_read() -> None:
    assert len(plain("ﷺ" * READ)) == len(plain("…" * READ)) == len(plain("a" * (READ + 1))) == READ
