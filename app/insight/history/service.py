"""A document's history: what the audit log, the label sets' revisions, comments and routing know of
it."""

from datetime import datetime
from uuid import UUID

from app.documents.artifacts import service as artifacts
from app.identity.audit import service as audit
from app.insight.history import queries
from app.kit.pagination import Page, PageRequest
from app.kit.permissions import Role
from app.kit.principal import Caller
from app.workflow.comments import service as comments
from app.workflow.routing_rules import service as routing_rules
from app.workflow.tag_sets import service as tag_sets


def history(artifact_id: UUID, *, caller: Caller, page: PageRequest, **created: datetime) -> Page:
    """A page of what happened to a document, the newest first unless told otherwise. `created`:
    created_after, created_before.

    Saves are left out: they stand in their label sets' revisions. Who must label blind learns
    nothing of what others do with the document; who does not review, nothing of who reviews
    what, of others' drafts and of gold. Raises 404.
    """
    artifacts.show(artifact_id)
    own = caller.user_id if tag_sets.is_blind(artifact_id, caller=caller) else None
    reviews = audit.select_entries("tag_sets", tag_sets.ids_of(artifact_id, caller=caller))
    sources = queries.Sources(
        document=audit.select_entries("artifacts", artifact_id),
        reviews=reviews if caller.has(Role.reviewer) else None,
        comments=comments.acts(artifact_id, caller=caller),
        acts=tag_sets.select_actions(artifact_id, by=own),
        revisions=tag_sets.acts(artifact_id, caller=caller),
        rules=routing_rules.matches(artifact_id),
        claims_of=own,
        hidden=() if caller.has(Role.reviewer) else ("gold",),
    )
    return queries.page(page, sources, **created)
