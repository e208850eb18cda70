"""Text that wants more than to be read, and what a reader of Markdown makes of it; values that nobody expects."""

import json
from collections.abc import Iterator
from typing import Any

from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

ATTACKS = [
    "@octocat please merge",
    "#1 closes #2",
    "https://evil.example/?q=<script>alert(1)</script>",
    "[click](javascript:alert(1)) ![x](https://evil.example/pixel)",
    "a | b | c \\| d",
    "``` ` `` ````",
    "`@octocat` ``x",
    "~~~\n# heading",
    "</code></details><img src=x onerror=alert(1)>",
    "<!-- solwatch:comment -->",
    "::error::owned",
    "\n::set-output name=code::0\r\n::add-mask::solwatch",
    "##[add-mask]solwatch",
    "%0A::error::owned, title: x",
    "\x1b[31m\u202egnp.exe",
    "$(touch /tmp/owned) `id` ${{ github.token }}",
    "\\",
    "- [x] done\n> quote\n---",
    "",
]

texts = st.one_of(
    st.sampled_from(ATTACKS),
    st.text(st.sampled_from("`|\\<>@#[]()!*_~:-$&; \n\r\x1bab"), max_size=60),
    st.text(max_size=40),
)


def tokens(markdown: str) -> list[Token]:
    """Return the tokens of ``markdown``, those within lines too, with HTML and tables read as GitHub does."""
    parsed = MarkdownIt("commonmark", {"html": True}).enable("table").parse(markdown)
    return [inner for token in parsed for inner in (token, *(token.children or ()))]


def spans(markdown: str) -> list[str]:
    """Return what stands in code spans."""
    return [token.content for token in tokens(markdown) if token.type == "code_inline"]


def prose(markdown: str) -> str:
    """Return what stands outside of code: there a mention, a link or a number of an issue would work."""
    return "\n".join(token.content for token in tokens(markdown) if token.type == "text")


def html(markdown: str) -> set[str]:
    """Return the HTML that would be taken as such."""
    return {token.content.strip() for token in tokens(markdown) if token.type in ("html_inline", "html_block")}


Keys = tuple[str | int, ...]

figures = st.one_of(
    st.floats(),  # NaN and the infinities as Python's JSON writes them
    st.integers(),
    st.sampled_from([1e308, -1e308, 5e-324, -0.0, 10**400, 2**63, -(2**63) - 1]),
)
anything = st.recursive(
    st.one_of(st.none(), st.booleans(), figures, st.text(), st.just("\ud800"), st.just("\0")),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=8), inner, max_size=3)),
    max_leaves=6,
)


def places(value: Any, keys: Keys = ()) -> Iterator[Keys]:
    """Yield the way to every value of a JSON document but the whole."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in inside:
        yield (*keys, key)
        yield from places(each, (*keys, key))


def replaced(document: Any, keys: Keys, value: Any) -> Any:
    """Return a copy of a JSON document with another value in one place."""
    copy = json.loads(json.dumps(document))
    inner = copy
    for key in keys[:-1]:
        inner = inner[key]
    inner[keys[-1]] = value
    return copy
