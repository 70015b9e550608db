"""The types of pyarrow that the Parquet writer uses, because pyarrow has no annotations."""

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol


class DataType(Protocol):
    """The type of a column. `num_fields` is 0 unless the type is a list or a structure."""

    num_fields: int

    def field(self, index: int, /) -> "ArrowField":
        """Return the item of a list type, or a field of a structure type."""

    def __iter__(self) -> "Iterator[ArrowField]": ...

    def __getitem__(self, index: int, /) -> "ArrowField": ...


class ArrowField(Protocol):
    """A column of a schema, or a field of a structure type."""

    name: str
    type: DataType


class ArrowSchema(Protocol):
    """The columns of a file."""

    names: list[str]

    def field(self, name: str, /) -> ArrowField:
        """Return the column with this name."""


class ArrowArray(Protocol):
    """The values of a column in one batch."""

    def cast(self, type_: DataType, /) -> "ArrowArray":
        """Convert the values. Raises ValueError if a value cannot be converted."""


class ListArray(ArrowArray, Protocol):
    """A column of lists."""

    @classmethod
    def from_arrays(cls, offsets: ArrowArray, items: ArrowArray, /) -> ArrowArray:
        """Divide items into lists; each offset is the index of the first item of a list."""


class StructArray(ArrowArray, Protocol):
    """A column of structures."""

    @classmethod
    def from_arrays(
        cls,
        arrays: Sequence[ArrowArray],
        /,
        names: Sequence[str] = (),
        fields: Sequence[ArrowField] = (),
        mask: ArrowArray | None = None,
    ) -> ArrowArray:
        """Combine one array for each field; structures for which `mask` is true are null."""


class RecordBatch(Protocol):
    """The columns of several rows."""

    num_rows: int
    nbytes: int

    @classmethod
    def from_arrays(cls, arrays: Sequence[ArrowArray], /, *, schema: ArrowSchema) -> "RecordBatch":
        """Combine one array for each column of the schema."""


class Table(Protocol):
    """The rows of several record batches."""

    num_rows: int

    @classmethod
    def from_batches(cls, batches: Sequence[RecordBatch], /, *, schema: ArrowSchema) -> "Table":
        """Combine record batches without copying them."""


class ParquetFile(Protocol):
    """An open `pyarrow.parquet.ParquetWriter`."""

    def write_table(self, table: Table, /, *, row_group_size: int) -> None:
        """Write the rows of a table in row groups."""

    def close(self) -> None:
        """Write the footer."""


class Arrow(Protocol):
    """The module `pyarrow`."""

    ListArray: type[ListArray]
    RecordBatch: type[RecordBatch]
    StructArray: type[StructArray]
    Table: type[Table]

    bool_: Callable[[], DataType]
    date32: Callable[[], DataType]
    float64: Callable[[], DataType]
    int32: Callable[[], DataType]
    int64: Callable[[], DataType]
    string: Callable[[], DataType]
    time64: Callable[[str], DataType]
    decimal128: Callable[[int, int], DataType]
    list_: Callable[[DataType], DataType]
    struct: Callable[[Sequence[tuple[str, DataType]]], DataType]
    schema: Callable[[Sequence[tuple[str, DataType]]], ArrowSchema]

    def timestamp(self, unit: str, /, *, tz: str) -> DataType:
        """Return the type of timestamps in a time zone."""

    def array(
        self,
        values: Sequence[object],
        /,
        type: DataType | None = None,  # noqa: A002 - the name in pyarrow
    ) -> ArrowArray:
        """Convert values to an array.

        Raises ValueError or OverflowError if a value does not fit.
        """
