"""Public functions of tag sets: drafts, submission, review decisions, merges and statuses."""

from app.workflow.tag_sets.queries.bulk import release_reviews
from app.workflow.tag_sets.queries.reading import TagSetRow, get_many, get_prepared
from app.workflow.tag_sets.queries.related import count_by_schema, list_blocking_ids
from app.workflow.tag_sets.queries.skips import (
    create_skip,
    delete_skip,
    record_action,
    select_actions,
)
from app.workflow.tag_sets.queries.statuses import (
    end_reservations,
    is_reserved_for,
    list_organizations_with_expired_reservations,
    unarchive,
    update_statuses,
)
from app.workflow.tag_sets.service.bulk import accept_many, reject_many
from app.workflow.tag_sets.service.comparing import compare, get_consensus, list_revisions
from app.workflow.tag_sets.service.decisions import accept, reject
from app.workflow.tag_sets.service.drafts import create, delete, replace_tags
from app.workflow.tag_sets.service.importing import (
    NewTagSet,
    check_imported_tags,
    get_required_labels,
    import_many,
)
from app.workflow.tag_sets.service.merging import merge
from app.workflow.tag_sets.service.ports import PredictedTags, Predictions, bind_predictions
from app.workflow.tag_sets.service.reading import (
    find_latest_prediction,
    find_viewers,
    find_visible_ids,
    get,
    is_blind,
    list_field_names,
    list_tag_sets,
    select_ids,
    select_revisions,
    show,
)
from app.workflow.tag_sets.service.reopening import reopen
from app.workflow.tag_sets.service.rules import check_review
from app.workflow.tag_sets.service.statuses import (
    end_expired_reservations,
    release_reservations,
    update_statuses_of_schema,
)
from app.workflow.tag_sets.service.submitting import RULES_PREFIX, submit

__all__ = [
    "RULES_PREFIX",
    "NewTagSet",
    "PredictedTags",
    "Predictions",
    "TagSetRow",
    "accept",
    "accept_many",
    "bind_predictions",
    "check_imported_tags",
    "check_review",
    "compare",
    "count_by_schema",
    "create",
    "create_skip",
    "delete",
    "delete_skip",
    "end_expired_reservations",
    "end_reservations",
    "find_latest_prediction",
    "find_viewers",
    "find_visible_ids",
    "get",
    "get_consensus",
    "get_many",
    "get_prepared",
    "get_required_labels",
    "import_many",
    "is_blind",
    "is_reserved_for",
    "list_blocking_ids",
    "list_field_names",
    "list_organizations_with_expired_reservations",
    "list_revisions",
    "list_tag_sets",
    "merge",
    "record_action",
    "reject",
    "reject_many",
    "release_reservations",
    "release_reviews",
    "reopen",
    "replace_tags",
    "select_actions",
    "select_ids",
    "select_revisions",
    "show",
    "submit",
    "unarchive",
    "update_statuses",
    "update_statuses_of_schema",
]
