"""Choose unit codes of UN/ECE Recommendation 20."""

ONE, MONTH = "C62", "MON"
_PIECE_CODES = {1: ONE, 100: "CEN", 1_000: "MIL", 10**6: "MIO"}
_BYTE_CODES = {10**9: "E34", 10**12: "E35", 2**40: "E61", 2**30: "E62"}


def get_unit_code(unit: int, *, is_bytes: bool = False) -> str:
    """Return the code for a unit of pieces or bytes: MIL for 1,000 pieces, E62 for 2**30 bytes.

    A unit without a code counts as one piece; `describe_meter` then adds its size.
    """
    return find_unit_code(unit, is_bytes=is_bytes) or ONE


def find_unit_code(unit: int, *, is_bytes: bool) -> str | None:
    """Return the code for a unit of pieces or bytes, or None if no code exists."""
    return (_BYTE_CODES if is_bytes else _PIECE_CODES).get(unit)
