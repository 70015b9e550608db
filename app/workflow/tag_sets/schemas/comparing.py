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
from app.workflow.tag_sets.schemas.records import SOURCES, STATUSES, Evidence, Person, Tag

REVISION_KINDS = (
    "create", "save", "submit", "accept", "correction", "reject", "reopen", "merge", "supersede",
    "import",
)  # fmt: skip


class Change(Response):
    """A tag that was added, removed or changed."""

    field = Str()
    row = Int(allow_none=True, description="The row in `to`, or in `from` if the tag was removed.")
    kind = Str(validate=OneOf(("added", "removed", "changed")))
    members = List(
        Str(), description="The changed properties: value, evidence, confidence, source."
    )
    before = Nested(Tag, allow_none=True, data_key="from", attribute="from")
    after = Nested(Tag, allow_none=True, data_key="to", attribute="to")


class MovedRows(Response):
    """Consecutive rows of a table whose row numbers changed by the same amount."""

    table = Str(description="The key of the table field.")
    start = Int(data_key="from", attribute="from", description="The old number of the first row.")
    to = Int(description="The new number of the first row.")
    count = Int(description="The number of rows.")


class _ChangeCounts(Response):
    added = Int(description="The number of added tags.")
    removed = Int(description="The number of removed tags.")
    changed = Int(description="The number of changed tags.")


class Changes(_ChangeCounts):
    """The numbers of added, removed and changed tags, and the first changes up to a size limit."""

    entries = List(Nested(Change))
    moved = List(Nested(MovedRows))
    truncated = Bool(description="Whether changes or moved rows were omitted.")


class Revision(Response):
    """A revision of a tag set: its author, its time, and the changes."""

    number = Int()
    kind = Str(validate=OneOf(REVISION_KINDS))
    author = Nested(Person, allow_none=True)
    note = Str(allow_none=True)
    created_at = UtcDateTime()
    updated_at = UtcDateTime(
        attribute="created_at",
        dump_only=True,
        description="The same as `created_at`: a revision does not change.",
    )
    tag_count = Int()
    changes = Nested(
        Changes,
        allow_none=True,
        description=(
            "Changes since the previous revision; null if the tags of either revision are larger"
            " than 8 MiB divided by `page_size`. Request a smaller page to get them."
        ),
    )


class DiffQuery(Schema):
    """The other side of a comparison: exactly one of `against`, `revision` and `prediction`."""

    against = Uuid(description="Another tag set of the same artifact to compare with.")
    revision = QueryInt(minimum=1, description="A revision of this tag set to compare with.")
    prediction = QueryBool(description="Whether to compare with the latest prediction.")
    at_revision = QueryInt(
        minimum=1,
        description="A revision of this tag set to compare instead of its current state.",
    )


class DiffSide(Response):
    """The tag set, revision or prediction on the other side of a comparison."""

    kind = Str(validate=OneOf(("tag_set", "revision", "prediction")))
    tag_set_id = Uuid(allow_none=True, description="Null for a prediction.")
    revision = Int(allow_none=True, description="Null for a prediction.")
    prediction_id = Uuid(allow_none=True)


class Diff(_ChangeCounts):
    """The changes that lead from `against` to this tag set.

    In each change, `from` is the tag in `against`, and `to` is the tag in this tag set.
    """

    tag_set_id = Uuid()
    revision = Int(description="The revision of this tag set that was compared.")
    against = Nested(DiffSide)
    changes = List(Nested(Change))
    moved = List(Nested(MovedRows))


class ConsensusSet(Response):
    """A tag set in the consensus."""

    tag_set_id = Uuid()
    labeler = Nested(Person, allow_none=True)
    source = Str(validate=OneOf(SOURCES))
    status = Str(validate=OneOf(STATUSES))
    superseded_by = Uuid(allow_none=True, description="The merge that replaced the tag set.")
    counted = Bool(
        description="Whether the tag set is used to compute the values and the agreement."
    )
    gold_agreement = Float(
        allow_none=True,
        description=(
            "Agreement with the accepted tag set of a gold artifact. Null if the artifact is not"
            " gold or has no accepted tag set, if this tag set is the accepted tag set, if the"
            " schemas differ, or if the comparison is too large."
        ),
    )


class ConsensusValue(Response):
    """A value of a field, and the tag sets that contain it."""

    value = Any_(allow_none=True)
    evidence = List(Nested(Evidence))
    tag_set_ids = List(Uuid())


class ConsensusRow(Response):
    """The number of a table row in one tag set; rows of the tag sets are matched by content."""

    tag_set_id = Uuid()
    row = Int()


class ConsensusField(Response):
    """The values of one field. For a table column, the values in one row."""

    field = Str()
    row = Int(
        allow_none=True,
        description=(
            "For a table column: the row number after the rows of all tag sets have been matched by"
            " content."
        ),
    )
    rows = List(
        Nested(ConsensusRow), description="The row's number in each tag set that contains the row."
    )
    values = List(Nested(ConsensusValue))
    majority = List(Any_(), description="The values that more than half of the tag sets have.")
    tie = Bool(
        description=(
            "True if neither a value nor the empty field has a majority, or if too many spans or"
            " boxes are close together to be matched."
        )
    )
    agreement = Float(
        allow_none=True,
        description=(
            "Mean agreement for this field over all pairs of tag sets, 0 to 1. Null if there are"
            " fewer than two tag sets, or too many spans or boxes to match in one request."
        ),
    )


class Consensus(Response):
    """A comparison of the tag sets for an artifact, with the values and agreement by field."""

    artifact_id = Uuid()
    labels_per_artifact = Int(allow_none=True, description="The number of required tag sets.")
    agreement = Float(
        allow_none=True,
        description=(
            "Mean agreement over all pairs of tag sets, 0 to 1. Null if there are fewer than two"
            " tag sets, or too many spans or boxes to match in one request."
        ),
    )
    sets = List(Nested(ConsensusSet))
    fields_ = List(Nested(ConsensusField), data_key="fields", attribute="fields")
    truncated = Bool(
        description="Whether fields were omitted because all fields together exceed 8 MiB."
    )
