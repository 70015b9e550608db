"""Read ratings from rows into arrays, in a few bytes for each."""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from app.engines.agreement.metrics import Level


class _Empty:
    """The type of EMPTY."""


EMPTY: Final = _Empty()
"""The rating of a person who saw the document and found no value. None is no rating at all."""


@dataclass(frozen=True, slots=True)
class Ratings:
    """The ratings of one field. Use `build_ratings`."""

    level: Level
    raters: tuple[str, ...]


def build_ratings(
    rows: Iterable[tuple[Hashable, Any, Any]],
    *,
    level: Level = Level.NOMINAL,
    categories: Sequence[Any] | None = None,
) -> Ratings:
    """Read the ratings of one field.

    A row is (document, rater, value) or (document, unit in the document, rater, value): a document
    whose table has several rows has several units, but intervals resample whole documents. Value:
    None is no rating, EMPTY the decision that there is nothing. At the nominal level values are
    compared after `normalize_value`-like keys of the caller's making and may be any JSON value;
    at the others they are numbers, dates, or members of `categories`, whose order counts.
    `categories` are the options of a choice field, chosen or not.
    """
    raise NotImplementedError


def build_ratings_by_field(
    rows: Iterable[tuple[str, Hashable, Any, Any]],
    *,
    levels: dict[str, Level] | None = None,
    categories: dict[str, Sequence[Any]] | None = None,
) -> dict[str, Ratings]:
    """Read the ratings of several fields; a row has the name of its field in front."""
    raise NotImplementedError
