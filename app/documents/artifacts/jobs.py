"""Background work on documents: reading files, deleting them, indexing, ending what ran out."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID

from app.documents.artifacts import service
from app.identity.organizations import service as organizations
from app.identity.teams import service as teams
from app.kit import container, db, jobs
from app.kit.jobs import Job
from app.kit.permissions import Role
from app.kit.storage import NotStored, StorageUnavailable

_CONTENTS_LOCKED = 10
_MISSING_FOR = timedelta(days=1)
"""A file that was there when its document was created is rather out of reach than gone."""


def _fail(job: Job, _error: str) -> None:
    message = "Reading the document went wrong each time it was tried."
    service.give_up(UUID(job.args["data"]["artifact_id"]), "crashed", message)


def _reopen(args: dict[str, Any]) -> None:
    service.reopen_failed(UUID(args["data"]["artifact_id"]))


@jobs.handler(
    "artifacts.parse",
    queue="documents",
    listens=("artifact.created", "artifact.reprocessed"),
    max_attempts=3,
    on_failure=_fail,
    on_retry=_reopen,
)
def parse(job: Job) -> None:
    """Read the text and the pages of a document that came in or is reprocessed."""
    # Text, pages and index go into the database, which needs the reserve for itself.
    container.current().reserve.check()
    artifact_id = UUID(job.args["data"]["artifact_id"])
    try:
        service.parse(artifact_id, job.checkpoint)
    except NotStored as missing:
        if db.utc_now() - job.created_at < _MISSING_FOR:
            raise StorageUnavailable(f"the file is not there: {missing}") from missing
        service.give_up(artifact_id, "content_missing", "The storage does not have the file.")


@jobs.handler(
    "artifacts.delete_content",
    queue="bulk",
    listens=("artifact.deleted",),
    batch=True,
    max_attempts=10,
)
def delete_content(deleted: Sequence[Job]) -> None:
    """Delete the files of documents that were deleted.

    A few are locked at a time: whoever uploads the same content waits for them.
    """
    contents = sorted({job.args["data"]["sha256"] for job in deleted})
    for number, sha256 in enumerate(contents):
        if number and number % _CONTENTS_LOCKED == 0:
            deleted[0].checkpoint()
        service.delete_content(sha256)


@jobs.handler("artifacts.release_member", queue="bulk", listens=("member.removed",))
def release_member(job: Job) -> None:
    """Give back what somebody had claimed or been assigned who left the organization, and what
    their teams cannot do without them."""
    team_ids = [UUID(one) for one in job.args["data"].get("team_ids") or ()]
    _release(job, team_ids, "member_removed")


@jobs.handler("artifacts.release_demoted", queue="bulk", listens=("member.role_changed",))
def release_demoted(job: Job) -> None:
    """Give back what somebody had claimed or been assigned who does not label any more."""
    if Role[job.args["data"]["to"]] < Role.labeler:
        _release(job, _teams(job), "role_changed")


@jobs.handler("artifacts.release_disabled", queue="bulk", listens=("member.disabled",))
def release_disabled(job: Job) -> None:
    """Give back what somebody had claimed or been assigned whose account is disabled."""
    _release(job, _teams(job), "account_disabled")


def _teams(job: Job) -> list[UUID]:
    user_id = UUID(job.args["data"]["user_id"])
    return [team["id"] for team in teams.of_users([user_id]).get(user_id, ())]


def _release(job: Job, team_ids: list[UUID], reason: str) -> None:
    user_id = UUID(job.args["data"]["user_id"])
    service.release_member(user_id, reason=reason)
    service.unassign(user_id, job.checkpoint, reason=reason)
    service.unassign_unable(team_ids, job.checkpoint, reason=reason)
    service.unreserve(user_id, job.checkpoint)


@jobs.handler("artifacts.expire_claims")
def expire_claims(job: Job) -> None:
    """End claims that ran out; their documents can be claimed again at once anyway."""
    while service.expire_claims():
        job.checkpoint()


@jobs.handler("artifacts.start_freeing")
def start_freeing(_job: Job) -> None:
    """Give each organization with begun drafts that were left for too long its job."""
    for organization_id in service.list_organizations_to_free():
        jobs.enqueue(
            "artifacts.free_expired",
            {},
            organization_id=organization_id,
            unique_key=f"free_expired:{organization_id}",
        )


@jobs.handler("artifacts.free_expired", queue="bulk")
def free_expired(job: Job) -> None:
    """Free the documents of begun drafts that were left for too long."""
    service.free_expired(job.checkpoint)


@jobs.handler("artifacts.unassign_team", queue="bulk", listens=("team.deleted",), max_attempts=10)
def unassign_team(job: Job) -> None:
    """Give the work of a team that was deleted back to the pool."""
    team_id = UUID(job.args["data"]["team_id"])
    service.unassign(team_id, job.checkpoint, reason="team_deleted")


@jobs.handler(
    "artifacts.follow_team", queue="bulk", listens=("team.member_removed",), max_attempts=10
)
def follow_team(job: Job) -> None:
    """Give the work of a team back to the pool once nobody is left in it who labels."""
    team_ids = [UUID(job.args["data"]["team_id"])]
    service.unassign_unable(team_ids, job.checkpoint, reason="team_left")


@jobs.handler(
    "artifacts.follow_schema", queue="bulk", listens=("schema.published",), max_attempts=10
)
def follow_schema(job: Job) -> None:
    """Set the documents' states by the number of label sets that a schema wants from now on."""
    data = job.args["data"]
    if data["labels_per_artifact"] != data["labels_per_artifact_before"]:
        service.refresh_schema(UUID(data["schema_id"]), job.checkpoint)


@jobs.handler("artifacts.sweep", queue="maintenance")
def sweep(job: Job) -> None:
    """Delete files that no document has."""
    job.checkpoint()
    service.sweep()


@jobs.handler("artifacts.index", queue="maintenance", resumable=True)
def index(job: Job) -> None:
    """Index documents anew of which the way of indexing has changed."""
    service.index_backlog(job.checkpoint)


@jobs.handler("artifacts.start_retention")
def start_retention(_job: Job) -> None:
    """Give each organization that keeps documents for a time only its job."""
    for organization_id in organizations.with_retention():
        jobs.enqueue(
            "artifacts.retain",
            {},
            organization_id=organization_id,
            unique_key=f"retain:{organization_id}",
        )


@jobs.handler("artifacts.retain", queue="bulk", resumable=True)
def retain(job: Job) -> None:
    """Delete an organization's documents that are older than it keeps them."""
    assert job.organization_id is not None
    # As it is now: somebody may have thought better of it since the job was made.
    days = organizations.retention_days(job.organization_id)
    if days is not None:
        service.delete_expired(days, job.checkpoint)


# Seconds: only what is not claimed is handed out in the order of urgency.
jobs.periodic("artifacts.expire_claims", every=10)
jobs.periodic("artifacts.start_retention", every=86_400)
jobs.periodic("artifacts.index", every=60)
jobs.periodic("artifacts.start_freeing", every=60)
jobs.periodic("artifacts.sweep", every=3600)
