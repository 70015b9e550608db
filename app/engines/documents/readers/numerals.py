"""Parse the numbers of lists, and format numbers as letters or Roman numerals."""

_ROMAN = (
    (1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"),
    (40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"),
)  # fmt: skip
_MAX_NUMBER = 32_767
_MAX_ROMAN_NUMBER = 3999
_MAX_LETTER_NUMBER = 26 * 30


def read_number(value: str | None, default: int) -> int:
    """Parse a number of a list. Numbers above 32,767 become 32,767.

    Returns `default` if `value` is not a number of one to five digits.
    """
    if value is None or not value.isdecimal() or len(value) > len(str(_MAX_NUMBER)):
        return default
    return min(int(value), _MAX_NUMBER)


def format_number(number: int, style: str, *, repeat_letters: bool = False) -> str:
    """Format a number as letters (style `a` or `A`), as a Roman numeral (`i`, `I`) or in digits.

    Other styles give digits, and so do numbers that are too small or too large for the style. After
    `z` comes `aa`. Then comes `ab`, or `bb` if `repeat_letters` is true.
    """
    if style in ("a", "A"):
        text = _format_as_letters(number, repeat_letters=repeat_letters)
    elif style in ("i", "I"):
        text = _format_as_roman(number)
    else:
        return str(number)
    return text.upper() if style.isupper() else text


def _format_as_roman(number: int) -> str:
    if not 1 <= number <= _MAX_ROMAN_NUMBER:
        return str(number)
    numeral = ""
    for value, letters in _ROMAN:
        count, number = divmod(number, value)
        numeral += letters * count
    return numeral


def _format_as_letters(number: int, *, repeat_letters: bool) -> str:
    if not 1 <= number <= _MAX_LETTER_NUMBER:
        return str(number)
    quotient, remainder = divmod(number - 1, 26)
    letter = chr(ord("a") + remainder)
    if repeat_letters:
        return letter * (quotient + 1)
    return (_format_as_letters(quotient, repeat_letters=False) if quotient else "") + letter
