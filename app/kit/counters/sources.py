"""What is counted: sources, and the cubes that their rows are counted in.

The database has the same from the migrations (`migrations/counting.py`), and counts by it. A test
holds the two equal.
"""

from collections.abc import Collection
from dataclasses import dataclass
from uuid import UUID

SOURCES: dict[str, "Source"] = {}
"""Every source by its name."""


@dataclass(frozen=True)
class Cube:
    """Cells by some facets. A reader finds them by one value of `key`, or by a range of `bucket`.

    A bucket is a time: the first `length` characters of its facet, a month, a day or an hour.
    """

    name: str
    facets: tuple[str, ...]
    key: str | None = None
    bucket: str | None = None
    length: int | None = None

    def covers(self, facets: Collection[str]) -> bool:
        """Return whether cells tell rows with different values of these facets apart."""
        return set(facets) <= {*self.facets, self.key, self.bucket}


@dataclass(frozen=True)
class Source:
    """Rows of a table that are counted by facets. Cubes come in the order of their size."""

    name: str
    facets: tuple[str, ...]
    cubes: tuple[Cube, ...]

    def __post_init__(self) -> None:
        SOURCES[self.name] = self

    def find_cube(self, facets: Collection[str], keys: Collection[str] = ()) -> Cube | None:
        """Return the smallest cube that covers these facets, one of `keys` its key, if any."""
        fitting = (
            cube
            for cube in self.cubes
            if cube.bucket is None
            and cube.covers(facets)
            and (cube.key is None or cube.key in keys)
        )
        return next(fitting, None)

    def find_levels(
        self,
        bucket: str,
        facets: Collection[str],
        keys: Collection[str] = (),
        level: int | None = None,
    ) -> list[Cube]:
        """Return the cubes by this bucket that cover these facets, the coarsest first.

        With `level`, return only that one.
        """
        fitting = [
            cube
            for cube in self.cubes
            if cube.bucket == bucket
            and level in (None, cube.length)
            and cube.covers(facets)
            and (cube.key is None or cube.key in keys)
        ]
        keyed = [cube for cube in fitting if cube.key is not None]
        return sorted(keyed or fitting, key=lambda cube: cube.length or 0)


def as_facet(value: object) -> str:
    """Return a value as the facet that the database makes of it."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    assert isinstance(value, str | UUID | int)
    return str(value)
