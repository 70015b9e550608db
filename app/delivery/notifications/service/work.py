"""What people are told of their work: assignments, mentions, and what became of their labels.

Each function takes the data of an event and `cause`, the event's id: whoever was told of it is not
told again. What is gone by now is told of no more.
"""

from collections.abc import Iterable
from datetime import datetime
from typing import Any
from uuid import UUID

from app.delivery.notifications import queries
from app.delivery.notifications.service.telling import tell
from app.kit.permissions import Role

_API = "/api/v1"
_NAME_LENGTH = 120
_EXCERPT_LENGTH = 500


def documents_assigned(cause: str, data: dict[str, Any]) -> None:
    """Tell those whom documents were assigned to, their teams' members included; where documents
    were spread over people, each how many are theirs.

    A part of something larger is told of with the whole of it, which has the same `cause` then.
    """
    if data.get("part_of"):
        return
    due_at = data.get("due_at")
    values: dict[str, Any] = {
        "by": _name(data.get("by")),
        "due_at": datetime.fromisoformat(due_at) if due_at else None,
    }
    whom: Any = {
        "kind": "assignment",
        "unique_key": f"assigned:{data.get('cause', cause)}",
        "least": Role.labeler,
        "but": _uuid(data.get("by")),
    }
    user_ids, team_ids = _uuids(data.get("user_ids")), _uuids(data.get("team_ids"))
    counts, count = data.get("counts") or {}, data["count"]
    if count == 1:
        if document := _document(UUID(data["artifact_ids"][0])):
            values["document"] = document
            link = f"{_API}/artifacts/{data['artifact_ids'][0]}"
            whom |= {"user_ids": user_ids, "team_ids": team_ids}
            tell("document_assigned", values=values, link=link, **whom)
        return
    many: Any = {"values": values, "link": f"{_API}/users/me/assignments", **whom}
    for number, people in _by_count(counts).items():
        tell("documents_assigned", count=number, user_ids=people, **many)
    rest = count - sum(counts.values())
    people = [] if counts else user_ids
    if len(team_ids) > 1:
        # How many each of the teams got, nobody said.
        tell("documents_assigned_to_teams", team_ids=team_ids, **many)
        team_ids = []
    if rest > 0:
        tell("documents_assigned", count=rest, user_ids=people, team_ids=team_ids, **many)


def _by_count(counts: dict[str, int]) -> dict[int, list[UUID]]:
    """Those who were given as many documents as each other."""
    found: dict[int, list[UUID]] = {}
    for user_id, count in counts.items():
        found.setdefault(count, []).append(UUID(user_id))
    return found


def reviews_assigned(cause: str, data: dict[str, Any]) -> None:
    """Tell the reviewers whom label sets were assigned or escalated to."""
    ids = [UUID(one) for one in data["tag_set_ids"]]
    values = {"by": _name(data.get("by")), "reason": data.get("reason")}
    whom: Any = {
        "kind": "assignment",
        "unique_key": f"reviews:{cause}",
        "user_ids": _uuids(data.get("user_ids")),
        "team_ids": _uuids([data["team_id"]] if data.get("team_id") else ()),
        "least": Role.reviewer,
        "but": _uuid(data.get("by")),
    }
    what = "escalated" if data.get("escalated") else "assigned"
    if len(ids) > 1:
        link = f"{_API}/users/me/assignments?kind=review"
        tell(f"reviews_{what}", count=len(ids), values=values, link=link, **whom)
    elif document := _document_of(ids[0]):
        link = f"{_API}/review-queue/{ids[0]}"
        tell(f"review_{what}", values={**values, "document": document}, link=link, **whom)


def comment_written(cause: str, data: dict[str, Any]) -> None:
    """Tell those whom a comment mentions, but not its author."""
    found = queries.comment(UUID(data["comment_id"])) if data["mentions"] else None
    if found is None:
        return
    tell(
        "mentioned",
        kind="mention",
        values={
            "by": _short(found.author),
            "document": _short(found.document),
            "comment": _short(found.body, _EXCERPT_LENGTH),
        },
        link=f"{_API}/tag-sets/{data['tag_set_id']}/comments",
        unique_key=f"commented:{cause}",
        user_ids=_uuids(data["mentions"]),
        but=UUID(data["author_id"]),
    )


def label_set_rejected(cause: str, data: dict[str, Any]) -> None:
    """Tell the labeler why, and whoever was handed the document that they have it now."""
    document = _document(UUID(data["artifact_id"]))
    if document is None:
        return
    values = {"document": document, "reason": data["reason"]}
    back = data["send_to"] in ("labeler", data["labeler_id"])
    if data["labeler_id"] is not None:
        tell(
            "sent_back" if back else "rejected",
            kind="review_rejected",
            values=values,
            link=f"{_API}/tag-sets/{data['tag_set_id']}",
            unique_key=f"rejected:{cause}",
            user_ids=_uuids([data["labeler_id"]]),
            but=_uuid(data.get("reviewer_id")),
        )
    if data.get("draft_id") is not None and not back:
        tell(
            "handed_on",
            kind="assignment",
            values=values,
            link=f"{_API}/tag-sets/{data['draft_id']}",
            unique_key=f"handed:{cause}",
            user_ids=_uuids([data["send_to"]]),
            but=_uuid(data.get("reviewer_id")),
        )


def label_set_reopened(cause: str, data: dict[str, Any]) -> None:
    """Tell the labeler whose labels were decided and are a draft of theirs again."""
    document = _document(UUID(data["artifact_id"]))
    if document is None or data["labeler_id"] is None or data.get("to") == "review":
        return
    tell(
        "reopened",
        kind="review_rejected",
        values={"document": document, "reason": data.get("reason")},
        link=f"{_API}/tag-sets/{data['tag_set_id']}",
        unique_key=f"reopened:{cause}",
        user_ids=_uuids([data["labeler_id"]]),
        but=_uuid(data.get("reviewer_id")),
    )


def _uuid(text: str | None) -> UUID | None:
    return None if text is None else UUID(text)


def _uuids(texts: Iterable[str] | None) -> list[UUID]:
    return [UUID(text) for text in texts or ()]


def _short(text: str, length: int = _NAME_LENGTH) -> str:
    return text if len(text) <= length else text[: length - 1].rstrip() + "…"


def _document(artifact_id: UUID) -> str | None:
    name = queries.document_name(artifact_id)
    return None if name is None else _short(name)


def _document_of(tag_set_id: UUID) -> str | None:
    name = queries.document_name_of(tag_set_id)
    return None if name is None else _short(name)


def _name(user_id: str | None) -> str | None:
    name = queries.person_name(UUID(user_id)) if user_id else None
    return None if name is None else _short(name)
