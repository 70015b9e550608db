"""Request and response schemas of tag sets."""

from app.workflow.tag_sets.schemas.bodies import (
    AcceptTagSet,
    CreateTagSet,
    MergeTagSets,
    RejectTagSet,
    ReopenTagSet,
    ReplaceTags,
)
from app.workflow.tag_sets.schemas.comparing import (
    Consensus,
    Diff,
    DiffQuery,
    Revision,
    RevisionFilters,
)
from app.workflow.tag_sets.schemas.records import Person, TagSet, TagSetFilters, TagSetSummary
from app.workflow.tag_sets.schemas.tags import Tag, Tags

__all__ = [
    "AcceptTagSet",
    "Consensus",
    "CreateTagSet",
    "Diff",
    "DiffQuery",
    "MergeTagSets",
    "Person",
    "RejectTagSet",
    "ReopenTagSet",
    "ReplaceTags",
    "Revision",
    "RevisionFilters",
    "Tag",
    "TagSet",
    "TagSetFilters",
    "TagSetSummary",
    "Tags",
]
