"""Choose unit codes from UN/ECE Recommendation 20 for the units of meters."""

PIECE_CODE, MONTH_CODE = "C62", "MON"
_PIECE_CODES = {1: PIECE_CODE, 100: "CEN", 1_000: "MIL", 10**6: "MIO"}
_BYTE_CODES = {10**9: "E34", 10**12: "E35", 2**40: "E61", 2**30: "E62"}


def get_unit_code(unit: int, *, is_bytes: bool = False) -> str:
    """Return the code for a unit of `unit` pieces or bytes, for example MIL for 1,000 pieces.

    If there is no such code, return the code for one piece. In this case, `describe_meter` adds
    the size to the meter's name.
    """
    return find_unit_code(unit, is_bytes=is_bytes) or PIECE_CODE


def find_unit_code(unit: int, *, is_bytes: bool) -> str | None:
    """Return the code for a unit of `unit` pieces or bytes, or None if there is no such code."""
    return (_BYTE_CODES if is_bytes else _PIECE_CODES).get(unit)
