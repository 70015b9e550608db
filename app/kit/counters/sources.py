"""The counted tables (sources), and the cubes that hold their counts.

Migrations create the same definitions in the database (`migrations/counting.py`). A test checks
that both are equal.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from uuid import UUID

from app.kit.counters.spans import DAY, HOUR, MONTH

_LEVEL_NAMES = {MONTH: "month", DAY: "day", HOUR: "hour"}
SOURCES: dict[str, "Source"] = {}
"""All sources by name."""


@dataclass(frozen=True)
class Cube:
    """A set of cells that count the rows of a source by the same facets.

    `key` and `bucket` are facets for which the table of counts has separate columns.
    Readers select cells by values of `key` or by a range of buckets. `bucket` contains a timestamp.
    Its first `length` characters name the bucket: a month, a day or an hour.
    """

    name: str
    facets: tuple[str, ...]
    key: str | None = None
    bucket: str | None = None
    length: int | None = None

    def covers(self, facets: Collection[str]) -> bool:
        """Return whether the cells of the cube distinguish all of these facets."""
        return set(facets) <= {*self.facets, self.key, self.bucket}


def build_cubes(
    name: str, facets: tuple[str, ...], bucket: str, *levels: int, key: str | None = None
) -> Iterator[Cube]:
    """Yield a cube for each of `levels` (MONTH, DAY, HOUR), named like `exports.created.day`."""
    for level in levels:
        yield Cube(f"{name}.{_LEVEL_NAMES[level]}", facets, key, bucket, level)


@dataclass(frozen=True)
class Source:
    """Rows of a table that are counted by facets. `cubes` is ordered by size, smallest first."""

    name: str
    facets: tuple[str, ...]
    cubes: tuple[Cube, ...]

    def __post_init__(self) -> None:
        SOURCES[self.name] = self

    def find_cube(self, facets: Collection[str], keys: Collection[str] = ()) -> Cube | None:
        """Return the smallest cube that covers these facets and has no bucket, or None.

        `keys` are the facets by which the query filters. A cube with a key is returned only if its
        key is one of them.
        """
        matching_cubes = (
            cube
            for cube in self.cubes
            if cube.bucket is None
            and cube.covers(facets)
            and (cube.key is None or cube.key in keys)
        )
        return next(matching_cubes, None)

    def find_bucket_cubes(
        self,
        bucket: str,
        facets: Collection[str],
        keys: Collection[str] = (),
        level: int | None = None,
    ) -> list[Cube]:
        """Return the cubes with this bucket that cover these facets, the coarsest first.

        `keys` are the facets by which the query filters. A cube with a key is returned only if its
        key is one of them. If there are such cubes, cubes without a key are not returned. `level`
        selects the cube whose buckets have this length.
        """
        matching_cubes = [
            cube
            for cube in self.cubes
            if cube.bucket == bucket
            and level in (None, cube.length)
            and cube.covers(facets)
            and (cube.key is None or cube.key in keys)
        ]
        keyed_cubes = [cube for cube in matching_cubes if cube.key is not None]
        return sorted(keyed_cubes or matching_cubes, key=lambda cube: cube.length or 0)


def to_facet(value: object) -> str:
    """Convert a value to the text that the database uses as its facet."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    assert isinstance(value, str | UUID | int)
    return str(value)
