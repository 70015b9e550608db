"""Build the parts of English messages that depend on a number."""


def format_count(count: int, singular: str, plural: str) -> str:
    """Return a number followed by `singular` if it is 1, or else by `plural`.

    For example, the result is "1 document was" or "1,200 documents were".
    """
    return f"{count:,} {singular if count == 1 else plural}"
