"""Translate characters of Microsoft's symbol fonts, such as checkboxes, to Unicode symbols."""

_WINGDINGS = {
    0x4A: "☺", 0x4C: "☹", 0x6C: "●", 0x6E: "■", 0x6F: "☐", 0x70: "☐", 0x71: "☐", 0x72: "☐",
    0x74: "◆", 0x75: "◆", 0x76: "❖", 0x78: "☒", 0x9F: "•", 0xA1: "○", 0xA7: "▪", 0xA8: "☐",
    0xD8: "➢", 0xDF: "←", 0xE0: "→", 0xE8: "➔", 0xF0: "⇨", 0xFB: "✗", 0xFC: "✓", 0xFD: "☒",
    0xFE: "☑",
}  # fmt: skip
_WINGDINGS_2 = {
    0x2A: "☐", 0x4F: "✗", 0x50: "✓", 0x51: "☒", 0x52: "☑", 0x53: "☒", 0x54: "☒", 0x55: "☒",
    0x98: "•", 0xA2: "■", 0xA3: "☐",
}  # fmt: skip
_SYMBOL = {
    0xA3: "≤", 0xA5: "∞", 0xAB: "↔", 0xAC: "←", 0xAE: "→", 0xB0: "°", 0xB1: "±", 0xB3: "≥",
    0xB4: "\u00d7", 0xB7: "•", 0xB8: "÷", 0xB9: "≠", 0xBB: "≈", 0xD6: "√", 0xE5: "∑",
}  # fmt: skip
_FONTS = {"wingdings": _WINGDINGS, "wingdings 2": _WINGDINGS_2, "symbol": _SYMBOL}
_FIRST_PRIVATE_CODE = 0xF000
"""The code point for code 0 in a symbol font. For example, code 0xFE becomes U+F0FE."""
EMPTY_BOX, TICKED_BOX = "☐", "☒"


def is_symbol_font(font: str | None) -> bool:
    """Return whether `font` shows symbols instead of letters."""
    return font is not None and font.lower() in _FONTS


def get_symbol(code: int, font: str | None) -> str:
    """Return the Unicode symbol for a code in a font, or `chr(code)` if the symbol is unknown."""
    symbols = _FONTS.get((font or "").lower(), {})
    return symbols.get(
        code - _FIRST_PRIVATE_CODE
        if _FIRST_PRIVATE_CODE <= code <= _FIRST_PRIVATE_CODE + 0xFF
        else code,
        chr(code),
    )


def decode_symbols(text: str, font: str | None) -> str:
    """Replace each character of `text` with the symbol that the font shows for it."""
    return "".join(get_symbol(ord(char), font) for char in text)
