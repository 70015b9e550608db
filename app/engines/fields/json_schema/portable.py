r"""Translate RE2 patterns to syntax with the same meaning in ECMA-262 and Python.

Syntax that engines interpret differently is replaced with explicit characters: `\d` becomes
`[0-9]`, `\s` becomes the five characters that it matches in RE2, and `.` becomes `[^\n]`.
Patterns that use syntax without an equivalent (flags, `\p{…}`, `\Q…\E`) are not translated.
"""

import re

_WORD_CHARS = ((0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A))
_ESCAPE_SETS: dict[str, tuple[tuple[int, int], ...]] = {
    "d": ((0x30, 0x39),),
    "w": _WORD_CHARS,
    "s": ((0x09, 0x0A), (0x0C, 0x0D), (0x20, 0x20)),
}
_POSIX_SETS: dict[str, tuple[tuple[int, int], ...]] = {
    "alnum": ((0x30, 0x39), (0x41, 0x5A), (0x61, 0x7A)),
    "alpha": ((0x41, 0x5A), (0x61, 0x7A)),
    "ascii": ((0x00, 0x7F),),
    "blank": ((0x09, 0x09), (0x20, 0x20)),
    "cntrl": ((0x00, 0x1F), (0x7F, 0x7F)),
    "digit": ((0x30, 0x39),),
    "graph": ((0x21, 0x7E),),
    "lower": ((0x61, 0x7A),),
    "print": ((0x20, 0x7E),),
    "punct": ((0x21, 0x2F), (0x3A, 0x40), (0x5B, 0x60), (0x7B, 0x7E)),
    "space": ((0x09, 0x0D), (0x20, 0x20)),
    "upper": ((0x41, 0x5A),),
    "word": _WORD_CHARS,
    "xdigit": ((0x30, 0x39), (0x41, 0x46), (0x61, 0x66)),
}
_CONTROL_CODES = {"t": 0x09, "n": 0x0A, "v": 0x0B, "f": 0x0C, "r": 0x0D, "a": 0x07}
_ANCHORS = {"A": "^", "z": "$"}
_LAST_CODE_POINT = 0x10FFFF
_HEX = re.compile(r"x(?:([0-9A-Fa-f]{2})|\{([0-9A-Fa-f]{1,6})\})")
_REPEAT = re.compile(r"(?:[*+?]|\{[0-9]+(?:,[0-9]*)?\})\??")
_GROUP = re.compile(r"\((?:\?(?::|P?<[A-Za-z0-9_]+>))?(?!\?)")
_POSIX = re.compile(r"\[:(\^?)([a-z]+):\]")
_SPECIAL_CHARS = frozenset("^$\\.*+?()[]{}|/")
_BOUNDARIES = {
    "b": "(?:(?<![0-9A-Za-z_])(?=[0-9A-Za-z_])|(?<=[0-9A-Za-z_])(?![0-9A-Za-z_]))",
    "B": "(?:(?<![0-9A-Za-z_])(?![0-9A-Za-z_])|(?<=[0-9A-Za-z_])(?=[0-9A-Za-z_]))",
}

Ranges = list[tuple[int, int]]


class _UntranslatableError(Exception):
    """The RE2 pattern uses syntax that has no equivalent in ECMA-262 or Python."""


def translate_pattern(pattern: str) -> str | None:
    """Translate an RE2 pattern to the common syntax of ECMA-262 (with `u`) and Python's `re`.

    The result matches the same strings as the RE2 pattern, but `$` in Python also matches before a
    final line feed. Returns None if the pattern cannot be translated.
    """
    try:
        return _Translator(pattern).translate()
    except _UntranslatableError:
        return None


class _Translator:
    def __init__(self, pattern: str) -> None:
        self.text = pattern
        self.position = 0

    def translate(self) -> str:
        parts: list[str] = []
        is_repeatable = False
        while self.position < len(self.text):
            match = _REPEAT.match(self.text, self.position)
            if match is None:
                part, is_repeatable = self._read_atom()
                parts.append(part)
                continue
            # RE2 accepts `^*`, which other engines reject.
            if not is_repeatable:
                raise _UntranslatableError
            self.position = match.end()
            parts.append(match[0])
            is_repeatable = False
        return "".join(parts)

    def _read_atom(self) -> tuple[str, bool]:
        """Translate the next part of the pattern.

        Returns the translation, and whether a repetition such as `*` may follow it.
        """
        char = self.text[self.position]
        if char == "(":
            return self._read_group_start(), False
        if char == "[":
            return self._read_class(), True
        if char == "\\":
            return self._read_escape()
        self.position += 1
        if char == ".":
            return r"[^\n]", True
        if char in "|^$":
            return char, False
        return (char, True) if char == ")" else (_format_literal(ord(char)), True)

    def _read_group_start(self) -> str:
        match = _GROUP.match(self.text, self.position)
        if match is None:
            raise _UntranslatableError
        self.position = match.end()
        return "(?:"

    def _read_escape(self) -> tuple[str, bool]:
        char = self.text[self.position + 1 : self.position + 2]
        if char in _ANCHORS or char in _BOUNDARIES:
            self.position += 2
            return _ANCHORS.get(char) or _BOUNDARIES[char], False
        if char.lower() in _ESCAPE_SETS:
            self.position += 2
            return _format_class(list(_ESCAPE_SETS[char.lower()]), is_negated=char.isupper()), True
        return _format_literal(self._read_escaped_character()), True

    def _read_escaped_character(self) -> int:
        """Read an escape for a single character, and return its code point."""
        match = _HEX.match(self.text, self.position + 1)
        if match is not None:
            self.position = match.end()
            return int(match[1] or match[2], 16)
        char = self.text[self.position + 1 : self.position + 2]
        self.position += 2
        if char in _CONTROL_CODES:
            return _CONTROL_CODES[char]
        if not char.isascii() or char.isalnum() or not char:
            raise _UntranslatableError
        return ord(char)

    def _read_class(self) -> str:
        self.position += 1
        is_negated = self.text.startswith("^", self.position)
        self.position += is_negated
        ranges: Ranges = []
        is_first = True
        while is_first or not self.text.startswith("]", self.position):
            ranges += self._read_class_item()
            is_first = False
        self.position += 1
        return _format_class(ranges, is_negated=is_negated)

    def _read_class_item(self) -> Ranges:
        match = _POSIX.match(self.text, self.position)
        if match is not None:
            if match[2] not in _POSIX_SETS:
                raise _UntranslatableError
            self.position = match.end()
            return (
                _invert_ranges(_POSIX_SETS[match[2]]) if match[1] else list(_POSIX_SETS[match[2]])
            )
        escaped = self.text[self.position + 1 : self.position + 2]
        if self.text.startswith("\\", self.position) and escaped.lower() in _ESCAPE_SETS:
            self.position += 2
            ranges = _ESCAPE_SETS[escaped.lower()]
            return _invert_ranges(ranges) if escaped.isupper() else list(ranges)
        low = self._read_code_point()
        next_chars = self.text[self.position : self.position + 2]
        if not next_chars.startswith("-") or next_chars == "-]":
            return [(low, low)]
        self.position += 1
        return [(low, self._read_code_point())]

    def _read_code_point(self) -> int:
        if self.text.startswith("\\", self.position):
            return self._read_escaped_character()
        char = self.text[self.position : self.position + 1]
        if not char:
            raise _UntranslatableError
        self.position += 1
        return ord(char)


def _invert_ranges(ranges: tuple[tuple[int, int], ...]) -> Ranges:
    gaps, start = [], 0
    for low, high in sorted(ranges):
        gaps.append((start, low - 1))
        start = high + 1
    return [(low, high) for low, high in [*gaps, (start, _LAST_CODE_POINT)] if low <= high]


def _format_class(ranges: Ranges, *, is_negated: bool) -> str:
    inner = "".join(
        _format_class_character(low)
        if low == high
        else f"{_format_class_character(low)}-{_format_class_character(high)}"
        for low, high in ranges
    )
    return f"[{'^' if is_negated else ''}{inner}]"


def _format_class_character(code: int) -> str:
    return f"\\{chr(code)}" if chr(code) in "^-[]\\" else _format_character(code)


def _format_literal(code: int) -> str:
    return f"\\{chr(code)}" if chr(code) in _SPECIAL_CHARS else _format_character(code)


def _format_character(code: int) -> str:
    # Escape control characters for readability; all engines accept other characters unescaped.
    if code == _CONTROL_CODES["n"]:
        return r"\n"
    return f"\\x{code:02x}" if code < 0x20 or 0x7F <= code < 0xA0 else chr(code)  # noqa: PLR2004
