"""Create documents from the attachments of emails, and from the emails of mailboxes."""

from hashlib import sha256
from uuid import UUID

from app.documents.artifacts.names import check_name
from app.documents.artifacts.queries import attaching as queries
from app.documents.artifacts.queries.attaching import ParentEmail
from app.documents.artifacts.queries.creating import find_by_content
from app.documents.artifacts.queries.parsing import update_artifact
from app.documents.artifacts.service import files
from app.documents.artifacts.service.creating import create_from_file
from app.engines import documents
from app.engines.documents.model import Attachment, ParseFailed
from app.kit import container
from app.kit.db import PositionCheckpoint
from app.kit.errors import ApiError
from app.kit.logging import get_logger
from app.kit.storage import TooLarge

MAX_DEPTH = 5
"""The maximum nesting depth of emails whose attachments become documents."""

log = get_logger(__name__)


def create_documents(artifact_id: UUID, checkpoint: PositionCheckpoint, position: int = 0) -> None:
    """Create a document from each attachment of an email, each in a separate transaction.

    A mailbox is handled like an email whose attachments are the emails in the mailbox. Does nothing
    if the email was deleted or is nested in `MAX_DEPTH` or more emails. The documents inherit the
    schema, metadata, priority, archived flag, creator, connector and ingestion job of the email,
    which is their parent. If the organization already has a document with the content, the email
    becomes the parent of that document, unless the document already has a parent. No document is
    created if the attachment is too large, if its type is not supported, or if the plan does not
    allow another document. The stored number of attachments includes those without a document.
    `checkpoint` commits with the number of the attachment, or raises if this run must stop.
    `position` is the number of the last attachment that an earlier run has committed.
    """
    email = queries.find_parent_email(artifact_id)
    if email is None or queries.count_ancestors(artifact_id, MAX_DEPTH) >= MAX_DEPTH:
        return
    checkpoint(str(position))
    count = 0
    with files.get_storage().use_local_path(files.build_content_key(email.sha256)) as path:
        try:
            attachments = documents.iterate_attachments(path, email.media_type)
            for count, attachment in enumerate(attachments, start=1):
                if count <= position:
                    continue
                existing_id = find_by_content(sha256(attachment.data).hexdigest())
                if existing_id is None:
                    _create(artifact_id, email, attachment, count)
                else:
                    queries.set_missing_parent(existing_id, artifact_id)
                checkpoint(str(count))
        except ParseFailed as failure:
            log.warning("artifact.attachments_unread", artifact=str(artifact_id), code=failure.code)
            return
    update_artifact(artifact_id, attachment_count=count)


def _create(parent_id: UUID, email: ParentEmail, attachment: Attachment, number: int) -> None:
    with files.get_storage().stage(container.settings().max_upload_bytes) as staged_file:
        try:
            staged_file.write(attachment.data)
            create_from_file(
                staged=staged_file,
                file_name=_choose_name(attachment.name, number),
                declared_media_type=None,
                parent_id=parent_id,
                schema_id=email.schema_id,
                metadata=email.meta,
                priority=email.priority,
                archived=email.archived,
                created_by=email.created_by,
                connector_id=email.connector_id,
                ingestion_job_id=email.ingestion_job_id,
            )
        except (ApiError, TooLarge) as failure:
            if isinstance(failure, ApiError) and failure.code == "service_unavailable":
                raise
            log.info(
                "artifact.attachment_left_out",
                artifact=str(parent_id), number=number, error=_get_code(failure),
            )  # fmt: skip


def _get_code(failure: ApiError | TooLarge) -> str:
    return failure.code if isinstance(failure, ApiError) else "payload_too_large"


def _choose_name(name: str, number: int) -> str:
    try:
        return check_name(name)
    except ValueError:
        return f"attachment-{number}"
