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
    Schema,
    Str,
    UtcDateTime,
    Uuid,
)
from app.workflow.tag_sets.schemas.records import SOURCES, STATES, Person
from app.workflow.tag_sets.schemas.tags import Evidence, Tag

KINDS = (
    "create", "save", "submit", "accept", "correction", "reject", "reopen", "merge", "supersede",
)  # fmt: skip


class Change(Schema):
    """The change of one tag."""

    field = Str(required=True)
    row = Int(
        required=True,
        allow_none=True,
        metadata={"description": "The row of `to`, or of `from` if the tag was removed."},
    )
    kind = Str(required=True, validate=OneOf(("added", "removed", "changed")))
    members = List(
        Str(),
        required=True,
        metadata={"description": "The changed members: value, evidence, confidence, source."},
    )
    before = Nested(Tag, required=True, allow_none=True, data_key="from", attribute="from")
    after = Nested(Tag, required=True, allow_none=True, data_key="to", attribute="to")


class MovedRows(Schema):
    """Consecutive rows of a table whose row numbers changed by the same amount."""

    table = Str(required=True)
    start = Int(required=True, data_key="from", attribute="from")
    to = Int(required=True)
    count = Int(required=True)


class _Counts(Schema):
    added = Int(required=True)
    removed = Int(required=True)
    changed = Int(required=True)


class Changes(_Counts):
    """The number of changed tags, and the first changes up to the size limit."""

    entries = List(Nested(Change), required=True)
    moved = List(Nested(MovedRows), required=True)
    truncated = Bool(
        required=True, metadata={"description": "Whether there are more changes or moved rows."}
    )


class Revision(Schema):
    """A revision of a tag set: who made it, when, and what changed."""

    number = Int(required=True)
    kind = Str(required=True, validate=OneOf(KINDS))
    author = Nested(Person, required=True, allow_none=True)
    note = Str(required=True, allow_none=True)
    created_at = UtcDateTime(required=True)
    tag_count = Int(required=True)
    changes = Nested(
        Changes,
        required=True,
        allow_none=True,
        metadata={
            "description": "Changes since the previous revision; null if the tags of either exceed"
            " 8 MiB divided by page_size."
        },
    )


class RevisionFilters(Schema):
    """Filters of the list of revisions."""

    created_after = UtcDateTime()
    created_before = UtcDateTime()


class DiffQuery(Schema):
    """The other side of the comparison: exactly one of `against`, `revision`, `prediction`."""

    against = Uuid(metadata={"description": "Another tag set of the same artifact."})
    revision = QueryInt(minimum=1, metadata={"description": "A revision of this tag set."})
    prediction = QueryBool(
        metadata={"description": "Whether to compare with the model's latest tag set."}
    )
    at_revision = QueryInt(
        minimum=1,
        metadata={
            "description": "Compare this tag set as of this revision; by default its current state."
        },
    )


class DiffSide(Schema):
    """The other side of a comparison."""

    kind = Str(required=True, validate=OneOf(("tag_set", "revision", "prediction")))
    tag_set_id = Uuid(required=True)
    revision = Int(required=True)


class Diff(_Counts):
    """The differences: `from` is the other side, `to` the tag set itself."""

    tag_set_id = Uuid(required=True)
    revision = Int(required=True)
    against = Nested(DiffSide, required=True)
    changes = List(Nested(Change), required=True)
    moved = List(Nested(MovedRows), required=True)


class ConsensusSet(Schema):
    """A tag set of the consensus."""

    tag_set_id = Uuid(required=True)
    labeler = Nested(Person, required=True, allow_none=True)
    source = Str(required=True, validate=OneOf(SOURCES))
    status = Str(required=True, validate=OneOf(STATES))
    superseded_by = Uuid(required=True, allow_none=True)
    counted = Bool(
        required=True,
        metadata={"description": "Whether it counts for the values and the agreement."},
    )
    gold_agreement = Float(
        required=True,
        allow_none=True,
        metadata={
            "description": "Agreement with the accepted tag set of a gold artifact. Null in the"
            " same cases as `agreement`."
        },
    )


class ConsensusValue(Schema):
    """A value, and the tag sets that have it."""

    value = Any_(required=True, allow_none=True)
    evidence = List(Nested(Evidence), required=True)
    tag_set_ids = List(Uuid(), required=True)


class ConsensusRow(Schema):
    """The number of a row in one tag set."""

    tag_set_id = Uuid(required=True)
    row = Int(required=True)


class ConsensusField(Schema):
    """The values of one field; in a table, of one row."""

    field = Str(required=True)
    row = Int(
        required=True,
        allow_none=True,
        metadata={
            "description": "In a table: the row after the rows of all tag sets are matched by"
            " content."
        },
    )
    rows = List(
        Nested(ConsensusRow),
        required=True,
        metadata={"description": "The number of this row in each tag set that has it."},
    )
    values = List(Nested(ConsensusValue), required=True)
    majority = List(
        Any_(),
        required=True,
        metadata={"description": "The values of more than half of the tag sets."},
    )
    tie = Bool(
        required=True,
        metadata={
            "description": "Whether there is no majority, not even for an empty field, or too many"
            " spans or boxes lie near each other to be matched."
        },
    )
    agreement = Float(
        required=True,
        allow_none=True,
        metadata={
            "description": "Mean over all pairs for this field. Null in the same cases as"
            " `agreement` above."
        },
    )


class Consensus(Schema):
    """The tag sets of an artifact side by side."""

    artifact_id = Uuid(required=True)
    labels_per_artifact = Int(required=True, allow_none=True)
    agreement = Float(
        required=True,
        allow_none=True,
        metadata={
            "description": "Mean over all pairs, 0 to 1; null for fewer than two tag sets, and if"
            " more spans or boxes must be matched than a request can wait for."
        },
    )
    sets = List(Nested(ConsensusSet), required=True)
    fields_ = List(Nested(ConsensusField), required=True, data_key="fields", attribute="fields")
    truncated = Bool(
        required=True,
        metadata={"description": "Whether fields were left out because they exceed 8 MiB."},
    )
