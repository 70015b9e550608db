"""Label sets: drafts and their saves, and what becomes of them."""

from app.workflow.tag_sets.service.bulk import accept_many, reject_many
from app.workflow.tag_sets.service.comparing import compare, consensus, list_revisions
from app.workflow.tag_sets.service.decisions import accept, reject, release_member
from app.workflow.tag_sets.service.drafts import create, delete, replace_tags
from app.workflow.tag_sets.service.merging import merge
from app.workflow.tag_sets.service.reading import (
    acts,
    field_names,
    get,
    ids_of,
    is_blind,
    list_tag_sets,
    listed,
    show,
    shown,
    who_may_see,
)
from app.workflow.tag_sets.service.reopening import reopen
from app.workflow.tag_sets.service.reviewing import check_review
from app.workflow.tag_sets.service.submitting import submit

__all__ = [
    "accept",
    "accept_many",
    "acts",
    "check_review",
    "compare",
    "consensus",
    "create",
    "delete",
    "field_names",
    "get",
    "ids_of",
    "is_blind",
    "list_revisions",
    "list_tag_sets",
    "listed",
    "merge",
    "reject",
    "reject_many",
    "release_member",
    "reopen",
    "replace_tags",
    "show",
    "shown",
    "submit",
    "who_may_see",
]
