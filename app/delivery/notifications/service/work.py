"""Notify users of events of their work: assignments, mentions, and decisions about tag sets.

Each function except `comment_written` takes a batch of events with the same name and skips events
that were handled before. Documents and tag sets that no longer exist are left out.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple
from uuid import UUID

from app.delivery.notifications.queries import collecting as queries
from app.delivery.notifications.queries import names
from app.delivery.notifications.service.collecting import NAMED, News, collect
from app.delivery.notifications.service.telling import tell
from app.kit.permissions import Role

_API = "/api/v1"
_NAME_LENGTH = 120
_EXCERPT_LENGTH = 500

Names = Mapping[UUID, str]


class Event(NamedTuple):
    """The event that a job handles: its id and payload."""

    id: UUID
    data: dict[str, Any]


def documents_assigned(events: Sequence[Event]) -> None:
    """Notify users of documents assigned to them or to their teams.

    If documents were spread over several users, each is notified of their own number.
    """
    told = _fresh(events)
    documents = names.of_documents(_first(told, "artifact_ids"))
    people = names.of_people(_uuids(data["by"] for data in told if data.get("by")))
    collect([news for data in told for news in _of_documents(data, documents, people)])


def _of_documents(data: dict[str, Any], documents: Names, people: Names) -> Iterator[News]:
    """Yield the news of one assignment, one for each group of users who get the same text."""
    ids = _uuids(data["artifact_ids"])
    named = _named(ids, documents)
    count, counts = data["count"], data.get("counts") or {}
    of_teams = data.get("team_counts") or {}
    if count == 1 and not named:
        return
    common: dict[str, Any] = {**_by(data, people), "due_at": data.get("due_at")}
    common |= {"least": Role.labeler}
    if count == 1:
        common["link"] = f"{_API}/artifacts/{ids[0]}"
    # The event does not say which user got which of the documents that were spread.
    alone = len(counts) + len(of_teams) <= 1
    common["documents"] = named if alone or count == 1 else []
    for number, user_ids in _by_count(counts).items():
        yield News("documents_assigned", count=number, user_ids=user_ids, **common)
    for team_id, number in of_teams.items():
        # One per team, because the numbers of a user who is in two teams add up.
        yield News("documents_assigned", count=number, team_ids=_uuids([team_id]), **common)
    if not counts and not of_teams:
        common |= {name: _uuids(data.get(name)) for name in ("user_ids", "team_ids")}
        yield News("documents_assigned", count=count, **common)


def _by_count(counts: dict[str, int]) -> dict[int, list[UUID]]:
    """Group the users by the number of documents that each was assigned."""
    found: dict[int, list[UUID]] = {}
    for identifier, count in counts.items():
        found.setdefault(count, []).append(UUID(identifier))
    return found


def reviews_assigned(events: Sequence[Event]) -> None:
    """Notify reviewers of tag sets that were assigned or escalated to them."""
    told = _fresh(events)
    documents = names.of_label_sets(_first(told, "tag_set_ids"))
    people = names.of_people(_uuids(data["by"] for data in told if data.get("by")))
    found = []
    for data in told:
        ids = _uuids(data["tag_set_ids"])
        named = _named(ids, documents)
        if named or len(ids) > 1:
            one = News(
                "reviews_escalated" if data.get("escalated") else "reviews_assigned",
                link=f"{_API}/review-queue/{ids[0]}",
                count=len(ids),
                documents=named,
                reason=data.get("reason"),
                user_ids=_uuids(data.get("user_ids")),
                team_ids=_uuids([data["team_id"]] if data.get("team_id") else ()),
                least=Role.reviewer,
                **_by(data, people),
            )
            found.append(one)
    collect(found)


def comment_written(event: Event) -> None:
    """Notify the users whom a comment mentions, except its author.

    They are notified at once, and separately for each comment.
    """
    data = event.data
    found = names.comment(UUID(data["comment_id"])) if data["mentions"] else None
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
        unique_key=f"commented:{event.id}",
        user_ids=_uuids(data["mentions"]),
        but=UUID(data["author_id"]),
    )


def label_sets_rejected(events: Sequence[Event]) -> None:
    """Notify labelers of rejected tag sets, and users to whom a document was transferred."""
    told = _fresh(events)
    documents = names.of_documents(_uuids(data["artifact_id"] for data in told))
    found = []
    for data in told:
        document = documents.get(UUID(data["artifact_id"]))
        if document is None:
            continue
        common: dict[str, Any] = {"documents": [_short(document)], "reason": data["reason"]}
        common["but"] = _uuid(data.get("reviewer_id"))
        back = data["send_to"] in ("labeler", data["labeler_id"])
        if data["labeler_id"] is not None:
            sort = "label_sets_sent_back" if back else "label_sets_rejected"
            link = f"{_API}/tag-sets/{data['tag_set_id']}"
            found.append(News(sort, link, user_ids=_uuids([data["labeler_id"]]), **common))
        if data.get("draft_id") is not None and not back:
            link = f"{_API}/tag-sets/{data['draft_id']}"
            user_ids = _uuids([data["send_to"]])
            found.append(News("documents_handed", link, user_ids=user_ids, **common))
    collect(found)


def label_sets_reopened(events: Sequence[Event]) -> None:
    """Notify labelers of decided tag sets that are their drafts again."""
    told = _fresh(events)
    documents = names.of_documents(_uuids(data["artifact_id"] for data in told))
    found = []
    for data in told:
        document = documents.get(UUID(data["artifact_id"]))
        theirs = data["labeler_id"] is not None and data.get("to") != "review"
        if document is not None and theirs:
            one = News(
                "label_sets_reopened",
                link=f"{_API}/tag-sets/{data['tag_set_id']}",
                documents=[_short(document)],
                reason=data.get("reason"),
                user_ids=_uuids([data["labeler_id"]]),
                but=_uuid(data.get("reviewer_id")),
            )
            found.append(one)
    collect(found)


def reviews_returned(events: Sequence[Event]) -> None:
    """Notify admins of escalated reviews that were returned because their assignee is gone."""
    told = [data for data in _fresh(events) if data["escalated_ids"]]
    documents = names.of_label_sets(_first(told, "escalated_ids"))
    found = []
    for data in told:
        ids = _uuids(data["escalated_ids"])
        named = _named(ids, documents)
        if named or len(ids) > 1:
            one = News(
                "escalations_returned",
                link=f"{_API}/review-queue/{ids[0]}",
                count=len(ids),
                documents=named,
                everybody=True,
                least=Role.admin,
            )
            found.append(one)
    collect(found)


def _fresh(events: Sequence[Event]) -> list[dict[str, Any]]:
    """Return the payloads of the events that were not handled before, in the order of their ids.

    Locks the organization's open notifications until the transaction ends.
    """
    if not events:
        return []
    queries.lock()
    by_id = {event.id: event.data for event in events}
    fresh = queries.fresh(by_id)
    return [by_id[one] for one in sorted(fresh)]


def _by(data: dict[str, Any], people: Names) -> dict[str, Any]:
    """Return the user who caused the event: named in the text, and not notified."""
    by = _uuid(data.get("by"))
    name = people.get(by) if by else None
    return {"by": None if name is None else _short(name), "but": by}


def _first(told: Iterable[dict[str, Any]], member: str) -> list[UUID]:
    return [one for data in told for one in _uuids(data[member][:NAMED])]


def _named(ids: Sequence[UUID], documents: Names) -> list[str]:
    return [_short(documents[one]) for one in ids[:NAMED] if one in documents]


def _uuid(text: str | None) -> UUID | None:
    return None if text is None else UUID(text)


def _uuids(texts: Iterable[str] | None) -> list[UUID]:
    return [UUID(text) for text in texts or ()]


def _short(text: str, length: int = _NAME_LENGTH) -> str:
    return text if len(text) <= length else text[: length - 1].rstrip() + "…"
