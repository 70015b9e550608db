"""A document's history: its entries in the audit log, and what was done with its label sets."""

from uuid import UUID

from app.identity.audit import service as audit
from app.kit.pagination import Page, PageRequest
from app.kit.principal import Caller
from app.labeling.artifacts import service as artifacts
from app.labeling.history import queries
from app.labeling.tag_sets import service as tag_sets


def history(artifact_id: UUID, *, caller: Caller, page: PageRequest) -> Page:
    """A page of what happened to a document, the newest first unless told otherwise.

    Saves are left out: they stand in their label sets' revisions. Who must label blind learns
    nothing of what others do with the document. Raises 404.
    """
    artifacts.show(artifact_id)
    return queries.page(
        page,
        entries=audit.about("artifacts", artifact_id),
        acts=tag_sets.acts(artifact_id, caller=caller),
        claims_of=caller.user_id if tag_sets.is_blind(artifact_id, caller=caller) else None,
    )
