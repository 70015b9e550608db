"""Notifications about assignments, mentions, review decisions, connectors and API keys.

Functions that take a batch of events skip the events that were handled before. Documents and tag
sets that no longer exist are omitted.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple
from uuid import UUID

from app.delivery.notifications.queries import collecting as queries
from app.delivery.notifications.queries import references
from app.delivery.notifications.service.collecting import MAX_NAMED, Notice, collect_notices
from app.delivery.notifications.service.sending import notify
from app.identity.api_keys import service as api_keys
from app.identity.api_keys.models import ApiKey
from app.identity.organizations.models import Organization
from app.kit import db, tenancy
from app.kit.permissions import Role

_API = "/api/v1"
_MAX_NAME_LENGTH = 120
_MAX_EXCERPT_LENGTH = 500
_MAX_LISTED_KEYS = 20

NamesById = Mapping[UUID, str]


class Event(NamedTuple):
    """The event that a job handles: its id and payload."""

    id: UUID
    data: dict[str, Any]


def notify_of_assigned_documents(events: Sequence[Event]) -> None:
    """Notify users of documents assigned to them or to their teams.

    If documents were distributed among several users, each user is notified of the number of
    documents assigned to that user.
    """
    payloads = _record_new_events(events)
    document_names = references.get_document_names(_list_first_ids(payloads, "artifact_ids"))
    user_names = _get_actor_names(payloads)
    notices = (_build_assignment_notices(data, document_names, user_names) for data in payloads)
    collect_notices(list(chain.from_iterable(notices)))


def _build_assignment_notices(
    data: dict[str, Any], document_names: NamesById, user_names: NamesById
) -> Iterator[Notice]:
    """Yield the notices about one assignment, one for each team or group of users to notify."""
    ids = _parse_uuids(data["artifact_ids"])
    known_names = _list_known_names(ids, document_names)
    count, counts = data["count"], data.get("counts") or {}
    team_counts = data.get("team_counts") or {}
    if count == 1 and not known_names:
        return
    values: dict[str, Any] = {**_build_actor_values(data, user_names), "due_at": data.get("due_at")}
    values |= {"min_role": Role.labeler}
    if count == 1:
        values["link"] = f"{_API}/artifacts/{ids[0]}"
    # If documents were distributed among several users, the event does not say which user got
    # which document.
    is_single_recipient = len(counts) + len(team_counts) <= 1
    values["documents"] = known_names if is_single_recipient or count == 1 else []
    for user_count, user_ids in _group_by_count(counts).items():
        yield Notice("documents_assigned", count=user_count, user_ids=user_ids, **values)
    for team_id, team_count in team_counts.items():
        # One notice per team, because the counts for a user who is in two teams are added up.
        team_ids = _parse_uuids([team_id])
        yield Notice("documents_assigned", count=team_count, team_ids=team_ids, **values)
    if not counts and not team_counts:
        values |= {name: _parse_uuids(data.get(name)) for name in ("user_ids", "team_ids")}
        yield Notice("documents_assigned", count=count, **values)


def _group_by_count(counts: dict[str, int]) -> dict[int, list[UUID]]:
    """Group the users by the number of documents that each was assigned."""
    users: dict[int, list[UUID]] = {}
    for user_id, count in counts.items():
        users.setdefault(count, []).append(UUID(user_id))
    return users


def notify_of_assigned_reviews(events: Sequence[Event]) -> None:
    """Notify reviewers of tag sets that were assigned or escalated to them."""
    payloads = _record_new_events(events)
    user_names = _get_actor_names(payloads)
    collect_notices(
        [
            Notice(
                "reviews_escalated" if data.get("escalated") else "reviews_assigned",
                **values,
                reason=data.get("reason"),
                user_ids=_parse_uuids(data.get("user_ids")),
                team_ids=_parse_uuids([data["team_id"]] if data.get("team_id") else ()),
                min_role=Role.reviewer,
                **_build_actor_values(data, user_names),
            )
            for data, values in _list_review_values(payloads, "tag_set_ids")
        ]
    )


def notify_of_comment(event: Event) -> None:
    """Notify the users whom a comment mentions, except its author.

    The notifications are created immediately and are not combined with other notifications.
    """
    data = event.data
    comment = references.get_comment(UUID(data["comment_id"])) if data["mentions"] else None
    if comment is None:
        return
    notify(
        "mentioned",
        kind="mention",
        values={
            "by": _shorten(comment.author),
            "document": _shorten(comment.document),
            "comment": _shorten(comment.body, _MAX_EXCERPT_LENGTH),
        },
        link=f"{_API}/tag-sets/{data['tag_set_id']}/comments",
        unique_key=f"commented:{event.id}",
        user_ids=_parse_uuids(data["mentions"]),
        except_user_id=UUID(data["author_id"]),
    )


def notify_of_connector_alert(event: Event) -> None:
    """Notify administrators of a connector alert."""
    data = event.data
    notify(
        "connector_alert",
        kind="connector_alert",
        values={"connector": _shorten(data["connector_name"]), "message": data["message"]},
        link=f"{_API}/connectors/{data['connector_id']}/alerts",
        unique_key=f"alert:{data['alert_id']}",
        role=Role.admin,
    )


def notify_of_rejected_tag_sets(events: Sequence[Event]) -> None:
    """Notify labelers of rejected tag sets, and users to whom a document was transferred."""
    notices = []
    for data, values in _record_new_decisions(events):
        is_sent_back = data["send_to"] in ("labeler", data["labeler_id"])
        if data["labeler_id"] is not None:
            topic_name = "label_sets_sent_back" if is_sent_back else "label_sets_rejected"
            link = f"{_API}/tag-sets/{data['tag_set_id']}"
            notices.append(
                Notice(topic_name, link, user_ids=_parse_uuids([data["labeler_id"]]), **values)
            )
        if data.get("draft_id") is not None and not is_sent_back:
            link = f"{_API}/tag-sets/{data['draft_id']}"
            user_ids = _parse_uuids([data["send_to"]])
            notices.append(Notice("documents_handed", link, user_ids=user_ids, **values))
    collect_notices(notices)


def notify_of_reopened_tag_sets(events: Sequence[Event]) -> None:
    """Notify labelers whose accepted or rejected tag sets were reopened as drafts."""
    notices = []
    for data, values in _record_new_decisions(events):
        if data["labeler_id"] is not None and data.get("to") != "review":
            link = f"{_API}/tag-sets/{data['tag_set_id']}"
            user_ids = _parse_uuids([data["labeler_id"]])
            notices.append(Notice("label_sets_reopened", link, user_ids=user_ids, **values))
    collect_notices(notices)


def _record_new_decisions(
    events: Sequence[Event],
) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Record events as handled; yield new payloads with `Notice` values if the document exists."""
    payloads = _record_new_events(events)
    artifact_ids = _parse_uuids(data["artifact_id"] for data in payloads)
    document_names = references.get_document_names(artifact_ids)
    for data in payloads:
        document_name = document_names.get(UUID(data["artifact_id"]))
        if document_name is not None:
            reviewer_id = _parse_uuid(data.get("reviewer_id"))
            values = {"documents": [_shorten(document_name)], "reason": data.get("reason")}
            yield data, {**values, "except_user_id": reviewer_id}


def notify_of_returned_reviews(events: Sequence[Event]) -> None:
    """Notify administrators of escalated reviews whose assignee can no longer review them."""
    payloads = [data for data in _record_new_events(events) if data["escalated_ids"]]
    collect_notices(
        [
            Notice("escalations_returned", **values, everybody=True, min_role=Role.admin)
            for _, values in _list_review_values(payloads, "escalated_ids")
        ]
    )


def _list_review_values(
    payloads: Sequence[dict[str, Any]], property_name: str
) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Yield each payload with the link, count and document names for its notification.

    `property_name` is the payload property with the ids of tag sets. A payload whose only tag set
    was deleted is skipped.
    """
    names = references.get_tag_set_document_names(_list_first_ids(payloads, property_name))
    for data in payloads:
        ids = _parse_uuids(data[property_name])
        known_names = _list_known_names(ids, names)
        if known_names or len(ids) > 1:
            link = f"{_API}/review-queue/{ids[0]}"
            yield data, {"link": link, "count": len(ids), "documents": known_names}


def notify_of_departed_creator(event: Event) -> None:
    """Notify owners if API keys stay valid after their creator has left or was disabled."""
    user_id = UUID(event.data["user_id"])
    _notify_owners(
        "api_key_creator_left", event, user_id, api_keys.list_unexpired_by_creator(user_id)
    )


def notify_of_demoted_creator(event: Event) -> None:
    """Notify owners if API keys now have a higher role than the user who created them."""
    user_id, role = UUID(event.data["user_id"]), Role[event.data["to"]]
    if role >= Role[event.data["from"]]:
        return
    higher_keys = [
        key for key in api_keys.list_unexpired_by_creator(user_id) if Role[key.role] > role
    ]
    _notify_owners("api_key_creator_demoted", event, user_id, higher_keys)


def _notify_owners(message_name: str, event: Event, user_id: UUID, keys: Sequence[ApiKey]) -> None:
    if not keys:
        return
    organization = db.session().get_one(Organization, tenancy.current_organization_id())
    descriptions = [f"{key.name} ({key.prefix}…, {key.role})" for key in keys[:_MAX_LISTED_KEYS]]
    notify(
        message_name,
        kind="api_key_creator_left",
        role=Role.owner,
        values={
            "creator": references.get_user_names([user_id]).get(user_id, ""),
            "keys": "\n".join([*descriptions, *(["…"] if len(keys) > _MAX_LISTED_KEYS else [])]),
        },
        count=len(keys),
        link=f"/api/v1/organizations/{organization.slug}/api-keys",
        unique_key=f"api_keys:{event.id}",
    )


def _record_new_events(events: Sequence[Event]) -> list[dict[str, Any]]:
    """Record events as handled; return the payloads of those not handled before, by event id.

    Calls `queries.acquire_advisory_lock`, as `collect_notices` requires.
    """
    if not events:
        return []
    queries.acquire_advisory_lock()
    payload_by_id = {event.id: event.data for event in events}
    new_ids = queries.record_causes(payload_by_id)
    return [payload_by_id[event_id] for event_id in sorted(new_ids)]


def _get_actor_names(payloads: Iterable[dict[str, Any]]) -> NamesById:
    user_ids = _parse_uuids(data["by"] for data in payloads if data.get("by"))
    return references.get_user_names(user_ids)


def _build_actor_values(data: dict[str, Any], user_names: NamesById) -> dict[str, Any]:
    """Build the values `by` and `except_user_id` of a notice from the payload of an event.

    `by` is the name of the user who caused the event, and `except_user_id` the user's id, because
    this user is not notified.
    """
    by = _parse_uuid(data.get("by"))
    name = user_names.get(by) if by else None
    return {"by": None if name is None else _shorten(name), "except_user_id": by}


def _list_first_ids(payloads: Iterable[dict[str, Any]], property_name: str) -> list[UUID]:
    return [id_ for data in payloads for id_ in _parse_uuids(data[property_name][:MAX_NAMED])]


def _list_known_names(ids: Sequence[UUID], document_names: NamesById) -> list[str]:
    return [_shorten(document_names[id_]) for id_ in ids[:MAX_NAMED] if id_ in document_names]


def _parse_uuid(value: str | None) -> UUID | None:
    return None if value is None else UUID(value)


def _parse_uuids(values: Iterable[str] | None) -> list[UUID]:
    return [UUID(value) for value in values or ()]


def _shorten(text: str, length: int = _MAX_NAME_LENGTH) -> str:
    return text if len(text) <= length else text[: length - 1].rstrip() + "…"
