"""Notify owners of active API keys whose creator left, was disabled or was demoted."""

from collections.abc import Sequence
from uuid import UUID

from app.delivery.notifications.queries import names
from app.delivery.notifications.service.sending import notify
from app.delivery.notifications.service.work import Event
from app.identity.api_keys import service as api_keys
from app.identity.api_keys.models import ApiKey
from app.identity.organizations.models import Organization
from app.kit import db, tenancy
from app.kit.permissions import Role

_NAMED = 20


def notify_of_departed_creator(event: Event) -> None:
    """Notify the owners of keys that stay valid although their creator left or was disabled."""
    user_id = UUID(event.data["user_id"])
    _notify("api_key_creator_left", event, user_id, api_keys.list_live_by_creator(user_id))


def notify_of_demoted_creator(event: Event) -> None:
    """Notify the owners of keys that have a higher role than their creator has now."""
    user_id, role = UUID(event.data["user_id"]), Role[event.data["to"]]
    if role >= Role[event.data["from"]]:
        return
    higher_keys = [key for key in api_keys.list_live_by_creator(user_id) if Role[key.role] > role]
    _notify("api_key_creator_demoted", event, user_id, higher_keys)


def _notify(message: str, event: Event, user_id: UUID, keys: Sequence[ApiKey]) -> None:
    if not keys:
        return
    organization = db.session().get_one(Organization, tenancy.current_organization_id())
    shown = [f"{key.name} ({key.prefix}…, {key.role})" for key in keys[:_NAMED]]
    notify(
        message,
        kind="api_key_creator_left",
        role=Role.owner,
        values={
            "creator": names.list_user_names([user_id]).get(user_id, ""),
            "keys": "\n".join([*shown, *(["…"] if len(keys) > _NAMED else [])]),
        },
        count=len(keys),
        link=f"/api/v1/organizations/{organization.slug}/api-keys",
        unique_key=f"api_keys:{event.id}",
    )
