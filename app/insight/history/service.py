"""History of a document, from the audit log, tag set revisions, comments and routing."""

from datetime import datetime
from uuid import UUID

from app.documents.artifacts.service import reading as artifacts
from app.identity.audit import service as audit
from app.insight.history import queries
from app.kit.pagination import Page, PageRequest
from app.kit.permissions import Role
from app.kit.principal import Caller
from app.workflow.comments import service as comments
from app.workflow.routing_rules.service import routing
from app.workflow.tag_sets.service import reading as tag_sets


def list_history(
    artifact_id: UUID, *, caller: Caller, page: PageRequest, **created: datetime
) -> Page:
    """List the history of a document: the actions on it, newest first by default.

    `created` may contain created_after and created_before. Saves are left out, because they are in
    the revisions of their tag sets. Callers who label the document blind do not see the actions of
    other users on it before they submit a tag set. Callers below the reviewer role do not see
    review assignments, drafts of other users or changes to `gold`. Raises 404 if the document does
    not exist.
    """
    artifacts.get_api_row(artifact_id)
    only_user_id = caller.user_id if tag_sets.must_label_blind(artifact_id, caller=caller) else None
    reviews = audit.select_entries("tag_sets", tag_sets.select_ids(artifact_id, caller=caller))
    sources = queries.HistorySources(
        document=audit.select_entries("artifacts", artifact_id),
        reviews=reviews if caller.has_role(Role.reviewer) else None,
        comments=comments.select_actions(artifact_id, caller=caller),
        actions=tag_sets.select_actions(artifact_id, by=only_user_id),
        revisions=tag_sets.select_revisions(artifact_id, caller=caller),
        rules=routing.select_matches(artifact_id),
        only_claims_by=only_user_id,
        hidden_properties=() if caller.has_role(Role.reviewer) else ("gold",),
    )
    return queries.list_entries(page, sources, **created)
