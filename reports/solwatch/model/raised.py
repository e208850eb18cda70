"""What an exception of someone else's code says, as a line that can be sent, kept and shown."""

LINE_LIMIT = 400


def said(error: BaseException) -> str:
    """Return ``Type: message`` on one line; a lone surrogate is written as its escape, and nothing is raised."""
    name = type(error).__name__
    try:
        text = str(error)
    except BaseException as failure:
        text = f"(its message could not be read: {type(failure).__name__})"
    text = " ".join(text.encode(errors="backslashreplace").decode().split())[:LINE_LIMIT]
    return f"{name}: {text}" if text else name
