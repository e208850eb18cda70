"""Files that once were whole: every way in which a disk, an editor or another program leaves them."""

import json
from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

RAW = [
    "null", "true", "-1", "0", "7", "1e308", "-1e308", "1e999", "NaN", "-Infinity", "9" * 400, "0.1", '""', '"text"',
    '"\\u0000"', '"\\ud800"', '"\\u202e\\u001b[2J"', "[]", "{}", "[[[1]]]", '{"a": 1, "a": 2}', "[" * 2000 + "]" * 2000,
    "[" * 100_000, "tru", "1 2", '"' + "x" * 100_000 + '"',
]  # fmt: skip
"""What stands where a value stood."""

_MARK = "the value that is exchanged"


def malformed(valid: bytes, *, lines: bool) -> st.SearchStrategy[bytes]:
    """Return a strategy of damaged copies of ``valid``, a JSON document or, with ``lines``, one a line."""
    ways: list[Callable[[Any], bytes]] = [_cut, _flipped, _other_encoding, _with_nul, _nested, _repeated, _swapped]

    @st.composite
    def damaged(draw: Any) -> bytes:
        if draw(st.integers(0, 2)) == 0:
            return draw(st.sampled_from(ways))(lambda strategy: draw(strategy))(valid)  # type: ignore[no-any-return]
        return _exchanged(draw, valid, lines=lines)

    return damaged()


def _cut(draw: Any) -> Any:
    return lambda valid: valid[: draw(st.integers(0, len(valid)))]


def _flipped(draw: Any) -> Any:
    def flipped(valid: bytes) -> bytes:
        content = bytearray(valid)
        for at, byte in draw(st.lists(st.tuples(st.integers(0, len(valid) - 1), st.integers(0, 255)), min_size=1)):
            content[at] = byte
        return bytes(content)

    return flipped


def _other_encoding(draw: Any) -> Any:
    encoding = draw(st.sampled_from(["utf-16", "utf-8-sig", "utf-32", "utf-16-le"]))
    return lambda valid: valid.decode().encode(encoding)


def _with_nul(draw: Any) -> Any:
    def with_nul(valid: bytes) -> bytes:
        at = draw(st.integers(0, len(valid)))
        return valid[:at] + b"\0" * draw(st.integers(1, 4096)) + valid[at:]

    return with_nul


def _nested(draw: Any) -> Any:
    return lambda valid: draw(st.sampled_from([b"[", b'{"a":'])) * 100_000 + b"\n" + valid


def _repeated(draw: Any) -> Any:
    return lambda valid: valid * draw(st.integers(2, 3))


def _swapped(draw: Any) -> Any:
    return lambda valid: b"".join(draw(st.permutations(valid.splitlines(keepends=True))))


def _exchanged(draw: Any, valid: bytes, *, lines: bool) -> bytes:
    """Exchange, drop or repeat one value of one document."""
    documents = valid.splitlines() if lines else [valid]
    number = draw(st.integers(0, len(documents) - 1))
    document = json.loads(documents[number])
    holder, key = draw(st.sampled_from(_places(document)))
    way = draw(st.sampled_from(["exchange", "exchange", "exchange", "drop", "repeat"]))
    if way == "drop":
        del holder[key]
    elif way == "repeat" and isinstance(holder, list):
        holder.insert(key, holder[key])
    else:
        holder[key] = _MARK
    text = json.dumps(document).replace(json.dumps(_MARK), draw(st.sampled_from(RAW)))
    documents[number] = text.encode()
    return b"\n".join(documents) + (b"\n" if valid.endswith(b"\n") else b"")


def _places(value: Any) -> list[tuple[Any, Any]]:
    """Return every (container, key) below ``value``; of long lists only the first few."""
    found: list[tuple[Any, Any]] = []
    for key in list(value) if isinstance(value, dict) else range(min(3, len(value))):
        found.append((value, key))
        if isinstance(value[key], dict | list):
            found += _places(value[key])
    return found
