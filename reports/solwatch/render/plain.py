"""Text from outside (commit subjects, cell names, error messages) made safe to show."""

import unicodedata

_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


def plain(text: str, limit: int = 500) -> str:
    """Return ``text`` on one line, without control or formatting characters, cut at ``limit`` characters.

    A commit subject can't move the cursor, colour the terminal, start a workflow command or turn the direction
    of the text that follows it.
    """
    shown = "".join(" " if char in "\n\r\t" else char for char in text[: 4 * limit])
    shown = "".join(char for char in shown if unicodedata.category(char) not in _HIDDEN)
    shown = " ".join(shown.split())
    return shown if len(shown) <= limit else shown[: limit - 1] + "…"
