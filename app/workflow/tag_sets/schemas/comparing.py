"""Schemas of revisions, comparisons and the consensus."""

from app.kit.api.fields import (
    Any_,
    Bool,
    Float,
    Int,
    List,
    Nested,
    OneOf,
    QueryBool,
    QueryInt,
    Response,
    Schema,
    Str,
    UtcDateTime,
    Uuid,
)
from app.workflow.tag_sets.schemas.records import SOURCES, STATES, Person
from app.workflow.tag_sets.schemas.tags import Evidence, Tag

KINDS = (
    "create", "save", "submit", "accept", "correction", "reject", "reopen", "merge", "supersede",
    "import",
)  # fmt: skip


class Change(Response):
    """The change of one tag."""

    field = Str()
    row = Int(allow_none=True, description="The row of `to`, or of `from` if the tag was removed.")
    kind = Str(validate=OneOf(("added", "removed", "changed")))
    members = List(
        Str(), description="The changed properties: value, evidence, confidence, source."
    )
    before = Nested(Tag, allow_none=True, data_key="from", attribute="from")
    after = Nested(Tag, allow_none=True, data_key="to", attribute="to")


class MovedRows(Response):
    """Consecutive rows of a table whose row numbers changed by the same amount."""

    table = Str()
    start = Int(data_key="from", attribute="from")
    to = Int()
    count = Int()


class _Counts(Response):
    added = Int()
    removed = Int()
    changed = Int()


class Changes(_Counts):
    """The number of changed tags, and the first changes up to the size limit."""

    entries = List(Nested(Change))
    moved = List(Nested(MovedRows))
    truncated = Bool(description="Whether there are more changes or moved rows.")


class Revision(Response):
    """A revision of a tag set: its author, its time, and the changes."""

    number = Int()
    kind = Str(validate=OneOf(KINDS))
    author = Nested(Person, allow_none=True)
    note = Str(allow_none=True)
    created_at = UtcDateTime()
    tag_count = Int()
    changes = Nested(
        Changes,
        allow_none=True,
        description=(
            "Changes since the previous revision; null if the tags of either revision exceed"
            " 8 MiB divided by page_size."
        ),
    )


class RevisionFilters(Schema):
    """Filters for the list of revisions."""

    created_after = UtcDateTime()
    created_before = UtcDateTime()


class DiffQuery(Schema):
    """The other side of the comparison: exactly one of `against`, `revision`, `prediction`."""

    against = Uuid(description="Another tag set of the same artifact.")
    revision = QueryInt(minimum=1, description="A revision of this tag set.")
    prediction = QueryBool(description="Whether to compare with the latest prediction.")
    at_revision = QueryInt(
        minimum=1,
        description="Compare this tag set as of this revision; by default its current state.",
    )


class DiffSide(Response):
    """The other side of a comparison."""

    kind = Str(validate=OneOf(("tag_set", "revision", "prediction")))
    tag_set_id = Uuid(allow_none=True, description="Null for a prediction.")
    revision = Int(allow_none=True, description="Null for a prediction.")
    prediction_id = Uuid(allow_none=True)


class Diff(_Counts):
    """The differences: `from` is the other side, `to` the tag set itself."""

    tag_set_id = Uuid()
    revision = Int()
    against = Nested(DiffSide)
    changes = List(Nested(Change))
    moved = List(Nested(MovedRows))


class ConsensusSet(Response):
    """A tag set in the consensus."""

    tag_set_id = Uuid()
    labeler = Nested(Person, allow_none=True)
    source = Str(validate=OneOf(SOURCES))
    status = Str(validate=OneOf(STATES))
    superseded_by = Uuid(allow_none=True)
    counted = Bool(description="Whether the tag set counts for the values and the agreement.")
    gold_agreement = Float(
        allow_none=True,
        description=(
            "Agreement with the accepted tag set of a gold artifact. Null without such a tag"
            " set, for that tag set itself, for other schemas, and if the comparison is too large."
        ),
    )


class ConsensusValue(Response):
    """A value, and the tag sets that have it."""

    value = Any_(allow_none=True)
    evidence = List(Nested(Evidence))
    tag_set_ids = List(Uuid())


class ConsensusRow(Response):
    """The number of a row in one tag set."""

    tag_set_id = Uuid()
    row = Int()


class ConsensusField(Response):
    """The values of one field; in a table, of one row."""

    field = Str()
    row = Int(
        allow_none=True,
        description="In a table: the row after the rows of all tag sets are matched by content.",
    )
    rows = List(
        Nested(ConsensusRow), description="The number of this row in each tag set that has it."
    )
    values = List(Nested(ConsensusValue))
    majority = List(Any_(), description="The values of more than half of the tag sets.")
    tie = Bool(
        description=(
            "Whether no value, and not the empty field either, has a majority, or too many spans"
            " or boxes are close to each other to be matched."
        )
    )
    agreement = Float(
        allow_none=True,
        description=(
            "Mean agreement for this field over all pairs of tag sets. Null in the same cases as"
            " the agreement of the artifact."
        ),
    )


class Consensus(Response):
    """The tag sets of an artifact side by side."""

    artifact_id = Uuid()
    labels_per_artifact = Int(allow_none=True)
    agreement = Float(
        allow_none=True,
        description=(
            "Mean agreement over all pairs of tag sets, 0 to 1. Null for fewer than two tag sets,"
            " and if there are too many spans or boxes to match in a request."
        ),
    )
    sets = List(Nested(ConsensusSet))
    fields_ = List(Nested(ConsensusField), data_key="fields", attribute="fields")
    truncated = Bool(description="Whether fields were omitted because they exceed 8 MiB.")
