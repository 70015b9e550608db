"""Read ratings from rows, and store them in compact arrays."""

from array import array
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from app.engines.agreement.coefficients.values import compute_digest, to_number
from app.engines.agreement.metrics import Level

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
_ROW_LENGTH_WITH_UNIT = 4
"""The length of a row (document, unit, rater, value). Rows without a unit are shorter by one."""


class _Empty:
    """The type of the `EMPTY` marker."""


EMPTY: Final = _Empty()
"""The rating of a person who saw the document but found no value. None means no rating."""
_EMPTY_DIGEST = compute_digest("\x00empty")


@dataclass(frozen=True)
class Ratings:
    """The ratings of one field, sorted by document and unit; created by `build_ratings`.

    `units`, `rater_codes` and `codes` have an entry for each rating. Codes below `len(values)` are
    categories in ascending order of their values; at the nominal level the order has no meaning.
    The code `len(values)` stands for EMPTY. Weighted coefficients, and Krippendorff's alpha above
    the nominal level, leave EMPTY ratings out. F1 counts EMPTY as no value. All other coefficients
    treat EMPTY as a category.
    """

    level: Level
    raters: tuple[str, ...]
    document_count: int
    documents: Integers
    """For each unit, the number that identifies its document."""
    units: Integers
    """The index of the unit to which each rating belongs."""
    rater_codes: Integers
    """The index in `raters` of the rater who gave each rating."""
    codes: Integers
    values: Floats
    excluded_count: int
    """The number of values left out because they do not fit the level."""

    @property
    def unit_count(self) -> int:
        """Return the number of units with at least one rating."""
        return len(self.documents)

    @property
    def category_count(self) -> int:
        """Return the number of categories, including categories that nobody chose.

        EMPTY is counted as a category if any rating is EMPTY.
        """
        return len(self.values) + bool(self.has_empty)

    @property
    def empty_code(self) -> int:
        """Return the code that stands for EMPTY."""
        return len(self.values)

    @cached_property
    def has_empty(self) -> bool:
        """Return whether any rating is EMPTY."""
        return bool(np.any(self.codes == self.empty_code))

    @cached_property
    def sizes(self) -> Integers:
        """Return the number of ratings in each unit."""
        return np.bincount(self.units, minlength=self.unit_count)

    @property
    def rating_documents(self) -> Integers:
        """Return, for each rating, the number that identifies its document."""
        return self.documents[self.units]

    def select(self, is_chosen: npt.NDArray[np.bool_]) -> "Ratings":
        """Select the ratings where `is_chosen` is true; drop units without selected ratings."""
        unit_indexes, new_units = np.unique(self.units[is_chosen], return_inverse=True)
        return replace(
            self,
            documents=self.documents[unit_indexes],
            units=new_units,
            rater_codes=self.rater_codes[is_chosen],
            codes=self.codes[is_chosen],
        )

    def select_pairable(self) -> "Ratings":
        """Select the ratings of units that have at least two ratings."""
        is_pairable = self.sizes[self.units] > 1
        return self if is_pairable.all() else self.select(is_pairable)

    def drop_empty(self) -> "Ratings":
        """Drop the EMPTY ratings, and return the other ratings."""
        return self.select(self.codes != self.empty_code) if self.has_empty else self


def build_ratings(
    rows: Iterable[tuple[Any, ...]],
    *,
    level: Level = Level.NOMINAL,
    categories: Sequence[Any] | None = None,
) -> Ratings:
    """Build the ratings of one field from rows.

    A row is (document, rater, value) or (document, unit in the document, rater, value). A document
    can have several units, for example the rows of a table, but intervals resample whole documents.
    None means no rating; EMPTY means that the rater found no value. If a rater rated a unit more
    than once, the last rating counts.

    At the nominal level, values may be any JSON value or a result of `normalize_value`; the order
    of a list does not matter. At the other levels, values are numbers, amounts, dates or times. At
    the ordinal level with `categories`, the values are categories, ranked in the order of
    `categories`. `categories` lists the options of a choice field, including options that nobody
    chose. Memory: about 20 bytes per rating while reading, 60 afterwards.
    """
    reader = _RatingReader(level, categories)
    for row in rows:
        reader.add(row)
    return reader.finish()


def build_ratings_by_field(
    rows: Iterable[tuple[Any, ...]],
    *,
    levels: Mapping[str, Level] | None = None,
    categories: Mapping[str, Sequence[Any]] | None = None,
) -> dict[str, Ratings]:
    """Build the ratings of several fields by name; each row begins with the name of its field."""
    readers: dict[str, _RatingReader] = {}
    for field, *row in rows:
        reader = readers.get(field)
        if reader is None:
            level = (levels or {}).get(field, Level.NOMINAL)
            reader = readers[field] = _RatingReader(level, (categories or {}).get(field))
        reader.add(row)
    names = list(readers)
    return {name: readers.pop(name).finish() for name in names}


class _RatingReader:
    """Collects the ratings of one field while they are read."""

    def __init__(self, level: Level, categories: Sequence[Any] | None) -> None:
        self._level = level
        self._is_nominal = level == Level.NOMINAL
        self._ranks: dict[int, float] | None = None
        self._declared_keys: list[Any] = []
        if categories is not None and self._is_nominal:
            self._declared_keys = [compute_digest(category) for category in categories]
        elif categories is not None and level == Level.ORDINAL:
            digests = map(compute_digest, categories)
            self._ranks = {digest: float(rank) for rank, digest in enumerate(digests)}
            self._declared_keys = list(self._ranks.values())
        elif categories is not None:
            numbers = [to_number(category) for category in categories]
            self._declared_keys = [number for number in numbers if number is not None]
        self._documents, self._units = array("Q"), array("Q")
        self._raters: array[int] = array("i")
        self._values: array[Any] = array("Q" if self._is_nominal else "d")
        self._rater_numbers: dict[Any, int] = {}
        self._excluded_count = 0
        self._last_document: Hashable = None
        self._last_digest = 0

    def add(self, row: Sequence[Any]) -> None:
        """Add the rating in a row, unless it is missing or does not fit the level."""
        value = row[-1]
        if value is None:
            return
        key = self._build_category_key(value)
        if key is None:
            self._excluded_count += 1
            return
        document = row[0]
        if document is not self._last_document:
            self._last_document, self._last_digest = document, compute_digest(document)
        unit = self._last_digest
        if len(row) == _ROW_LENGTH_WITH_UNIT:
            unit = compute_digest((("unit", unit), ("place", compute_digest(row[1]))))
        self._documents.append(self._last_digest)
        self._units.append(unit)
        self._raters.append(self._rater_numbers.setdefault(row[-2], len(self._rater_numbers)))
        self._values.append(key)

    def _build_category_key(self, value: object) -> object:
        if self._is_nominal:
            return _EMPTY_DIGEST if value is EMPTY else compute_digest(value)
        if value is EMPTY:
            return float("inf")  # sorts after all numbers, which are finite
        return to_number(value) if self._ranks is None else self._ranks.get(compute_digest(value))

    def finish(self) -> Ratings:
        """Finish reading, and return the ratings sorted by document, unit and rater."""
        names = sorted(self._rater_numbers, key=str)
        rater_positions = np.empty(len(names), dtype=np.int64)
        for position, name in enumerate(names):
            rater_positions[self._rater_numbers[name]] = position
        raters = rater_positions[np.frombuffer(self._raters, dtype=np.int32)]
        documents = np.frombuffer(self._documents, dtype=np.uint64)
        units = np.frombuffer(self._units, dtype=np.uint64)
        order = np.lexsort((raters, units, documents))
        raters, documents, units = raters[order], documents[order], units[order]
        # The sort is stable, so the last rating of a unit by a rater is the latest one.
        is_last = np.ones(len(order), dtype=bool)
        is_last[:-1] = (units[1:] != units[:-1]) | (raters[1:] != raters[:-1])
        codes, values = self._encode(order[is_last])
        units, documents, raters = units[is_last], documents[is_last], raters[is_last]
        is_first = np.ones(len(units), dtype=bool)
        is_first[1:] = units[1:] != units[:-1]
        distinct_documents, document_numbers = np.unique(documents[is_first], return_inverse=True)
        return Ratings(
            level=self._level,
            raters=tuple(map(str, names)),
            document_count=len(distinct_documents),
            documents=document_numbers.astype(np.int64),
            units=np.cumsum(is_first) - 1,
            rater_codes=raters,
            codes=codes,
            values=values,
            excluded_count=self._excluded_count,
        )

    def _encode(self, order: Integers) -> tuple[Integers, Floats]:
        """Return the codes of the ratings at the positions `order`, and the value of each code."""
        keys: npt.NDArray[Any]
        declared_keys: npt.NDArray[Any]
        if self._is_nominal:
            keys = np.frombuffer(self._values, dtype=np.uint64)[order]
            is_empty = keys == np.uint64(_EMPTY_DIGEST)
            declared_keys = np.array(self._declared_keys, dtype=np.uint64)
        else:
            keys = np.frombuffer(self._values, dtype=np.float64)[order]
            is_empty = np.isinf(keys)
            declared_keys = np.array(self._declared_keys, dtype=np.float64)
        distinct_keys = np.unique(np.concatenate((keys[~is_empty], declared_keys)))
        codes = np.searchsorted(distinct_keys, keys)
        codes[is_empty] = len(distinct_keys)
        is_ranked = self._level in (Level.NOMINAL, Level.ORDINAL)
        values = np.arange(len(distinct_keys), dtype=np.float64) if is_ranked else distinct_keys
        return codes.astype(np.int64), values
