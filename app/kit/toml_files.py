"""Reading and validation of TOML files that the operator writes."""

import tomllib
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Validator:
    """Reads a file and checks its values. Errors are raised as `error_class` with a location."""

    error_class: type[ValueError]

    def read(self, path: Path) -> Mapping[str, object]:
        """Return the content of a file; raise `error_class` if it is unreadable or not TOML."""
        try:
            return tomllib.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise self.error_class(f"cannot be read: {error}") from None

    def check_table(
        self,
        value: object,
        location: str,
        required: AbstractSet[str],
        optional: AbstractSet[str] = frozenset(),
    ) -> Mapping[str, object]:
        """Return `value` if it is a table with all `required` keys; other keys must be `optional`.

        Raises `error_class` otherwise.
        """
        if not isinstance(value, dict):
            raise self.error_class(f"{location} must be a table")
        if unknown_keys := sorted(value.keys() - required - optional):
            raise self.error_class(f"{location}: unknown keys: {', '.join(unknown_keys)}")
        if missing_keys := sorted(required - value.keys()):
            raise self.error_class(f"{location}: missing keys: {', '.join(missing_keys)}")
        return value

    def check_integer(self, value: object, location: str, minimum: int, maximum: int) -> int:
        """Return `value` if it is an integer in the range, otherwise raise `error_class`."""
        if type(value) is not int or not minimum <= value <= maximum:
            raise self.error_class(f"{location} must be a whole number from {minimum} to {maximum}")
        return value
