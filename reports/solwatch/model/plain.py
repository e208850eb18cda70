"""Text from outside (commit subjects, cell names, units, error messages, compiler output) made safe to show."""

import unicodedata

_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
_BLANKS = str.maketrans("\n\r\t", "   ")


def hidden(char: str) -> bool:
    """Return whether ``char`` is a control, formatting or unassigned character: nothing that can be read."""
    return unicodedata.category(char) in _HIDDEN


def plain(text: str, limit: int = 500) -> str:
    """Return ``text`` on one line, without control or formatting characters, cut at ``limit`` characters.

    A commit subject can't move the cursor, colour the terminal, start a workflow command or turn the direction
    of the text that follows it.
    """
    shown = text[: 4 * limit].translate(_BLANKS)
    shown = _without_old_commands(" ".join(_readable(shown).split()))
    return shown if len(shown) <= limit else shown[: limit - 1] + "…"


def plain_lines(text: str) -> str:
    """Return ``text`` without control or formatting characters, its lines and their indentation kept.

    A compiler's output can't give commands to the runner in whose log it is shown.
    """
    return without_commands("\n".join(_readable(line.expandtabs()) for line in text.splitlines()))


def without_commands(text: str) -> str:
    """Return ``text`` with no line that a runner would take for a command, in its new form or its old one."""
    lines = _without_old_commands(text).split("\n")
    return "\n".join(": :".join(line.split("::", 1)) if line.lstrip().startswith("::") else line for line in lines)


def _without_old_commands(text: str) -> str:
    return text.replace("##[", "## [")  # they count wherever they stand in a line


def _readable(text: str) -> str:
    if text.isprintable():  # most text by far: what is hidden isn't
        return text
    return "".join(char for char in text if not hidden(char))
