"""What label sets are compared with, and what comes out."""

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
    """What became of one tag."""

    field = Str(required=True)
    row = Int(
        required=True, allow_none=True, metadata={"description": "That of `to`, if there is one."}
    )
    kind = Str(required=True, validate=OneOf(("added", "removed", "changed")))
    members = List(
        Str(),
        required=True,
        metadata={"description": "Of value, evidence, confidence, source: those that changed."},
    )
    before = Nested(Tag, required=True, allow_none=True, data_key="from", attribute="from")
    after = Nested(Tag, required=True, allow_none=True, data_key="to", attribute="to")


class Moved(Schema):
    """Rows of a table, one after another, that have other numbers now."""

    table = Str(required=True)
    start = Int(required=True, data_key="from", attribute="from")
    to = Int(required=True)
    count = Int(required=True)


class _Counts(Schema):
    added = Int(required=True)
    removed = Int(required=True)
    changed = Int(required=True)


class Changes(_Counts):
    """How many tags changed, and what became of them, as far as there is room."""

    entries = List(Nested(Change), required=True)
    moved = List(Nested(Moved), required=True)
    truncated = Bool(
        required=True, metadata={"description": "There are more changes, or rows moved."}
    )


class Revision(Schema):
    """One saved state of a label set: who made it, when, and what changed."""

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
            "description": "Since the revision before. Null where the tags of either exceed 8 MiB"
            " divided by page_size."
        },
    )


class RevisionFilters(Schema):
    """Filters of a label set's revisions."""

    created_after = UtcDateTime()
    created_before = UtcDateTime()


class DiffQuery(Schema):
    """What to compare with: exactly one of `against`, `revision` and `prediction`."""

    against = Uuid(metadata={"description": "Another label set of the document."})
    revision = QueryInt(minimum=1, metadata={"description": "A revision of this label set."})
    prediction = QueryBool(metadata={"description": "The model's latest label set."})
    at_revision = QueryInt(
        minimum=1,
        metadata={"description": "This label set as of a revision; as it is, if absent."},
    )


class DiffSide(Schema):
    """What a label set was compared with."""

    kind = Str(required=True, validate=OneOf(("tag_set", "revision", "prediction")))
    tag_set_id = Uuid(required=True)
    revision = Int(required=True)


class Diff(_Counts):
    """What differs: `from` is what was compared with, `to` the label set itself."""

    tag_set_id = Uuid(required=True)
    revision = Int(required=True)
    against = Nested(DiffSide, required=True)
    changes = List(Nested(Change), required=True)
    moved = List(Nested(Moved), required=True)


class ConsensusSet(Schema):
    """One of the label sets that stand beside each other."""

    tag_set_id = Uuid(required=True)
    labeler = Nested(Person, required=True, allow_none=True)
    source = Str(required=True, validate=OneOf(SOURCES))
    status = Str(required=True, validate=OneOf(STATES))
    superseded_by = Uuid(required=True, allow_none=True)
    counted = Bool(
        required=True, metadata={"description": "Whether the values and agreement count it."}
    )
    gold_agreement = Float(
        required=True,
        allow_none=True,
        metadata={
            "description": "Of a gold document, agreement with its accepted label set."
            " Null as `agreement`."
        },
    )


class ConsensusValue(Schema):
    """One value, and who gave it."""

    value = Any_(required=True, allow_none=True)
    evidence = List(Nested(Evidence), required=True)
    tag_set_ids = List(Uuid(), required=True)


class ConsensusRow(Schema):
    """Which row of a label set it is."""

    tag_set_id = Uuid(required=True)
    row = Int(required=True)


class ConsensusField(Schema):
    """The values of one field, in a table of one row."""

    field = Str(required=True)
    row = Int(
        required=True,
        allow_none=True,
        metadata={"description": "In a table: the row once those of all are lined up by content."},
    )
    rows = List(
        Nested(ConsensusRow),
        required=True,
        metadata={"description": "The number of that row in each label set that has it."},
    )
    values = List(Nested(ConsensusValue), required=True)
    majority = List(
        Any_(),
        required=True,
        metadata={"description": "The values that more than half of the label sets have."},
    )
    tie = Bool(
        required=True,
        metadata={
            "description": "No majority, not even for no value; or too many spans or boxes near"
            " each other to tell which are alike."
        },
    )
    agreement = Float(
        required=True,
        allow_none=True,
        metadata={"description": "Of all pairs, here. Null as that of the whole document."},
    )


class Consensus(Schema):
    """A document's label sets side by side."""

    artifact_id = Uuid(required=True)
    labels_per_artifact = Int(required=True, allow_none=True)
    agreement = Float(
        required=True,
        allow_none=True,
        metadata={
            "description": "Mean over all pairs, 0 to 1; null of fewer than two, and where more"
            " spans or boxes would have to be matched than a request can wait for."
        },
    )
    sets = List(Nested(ConsensusSet), required=True)
    fields_ = List(Nested(ConsensusField), required=True, data_key="fields", attribute="fields")
    truncated = Bool(
        required=True, metadata={"description": "There are more fields than 8 MiB hold."}
    )
