"""Unsubscribe links in emails, each signed for one user and a set of notification types.

A link works without signing in and never expires, as mail programs expect (RFC 8058). It can only
turn off emails for the notification types that it is signed for.
"""

import base64
from collections.abc import Iterable
from typing import NamedTuple
from uuid import UUID

from app.identity.users import queries, service
from app.identity.users.preferences import DEFAULT_CHANNELS
from app.kit import audit, container, errors
from app.kit.secrets import SIGNATURE_BYTES

_PURPOSE = "unsubscribe"
_ID_BYTES = 16


class Unsubscription(NamedTuple):
    """The user and the notification types that an unsubscribe token covers."""

    user_id: UUID
    notification_types: tuple[str, ...]


def build_token(user_id: UUID, notification_types: Iterable[str]) -> str:
    """Build a signed token that can turn off a user's emails of the given notification types."""
    payload = user_id.bytes + ",".join(sorted(notification_types)).encode()
    signature = container.keyring().sign(_PURPOSE, payload)
    return base64.urlsafe_b64encode(signature + payload).rstrip(b"=").decode()


def read_token(token: str) -> Unsubscription:
    """Verify a token, and return its user and those of its notification types that still exist.

    Raises 404 if the token was not created by `build_token`.
    """
    try:
        raw = base64.b64decode(
            token.encode("ascii") + b"=" * (-len(token) % 4), altchars=b"-_", validate=True
        )
    except ValueError:
        raise errors.not_found() from None
    signature, payload = raw[:SIGNATURE_BYTES], raw[SIGNATURE_BYTES:]
    if not container.keyring().verify(_PURPOSE, payload, signature):
        raise errors.not_found()
    names = payload[_ID_BYTES:].decode().split(",")
    # A later release may have removed a notification type.
    known_types = tuple(name for name in names if name in DEFAULT_CHANNELS)
    return Unsubscription(UUID(bytes=payload[:_ID_BYTES]), known_types)


def get_address(unsubscription: Unsubscription) -> str:
    """Return the user's email address. Raises 404 if the account no longer exists."""
    return errors.require_found(queries.get(unsubscription.user_id)).email


def unsubscribe(token: str) -> None:
    """Turn off the emails that a token is signed for.

    Raises 404 if the token is invalid or its user no longer exists.
    """
    unsubscription = read_token(token)
    audit.set_actor("user", unsubscription.user_id, get_address(unsubscription))
    changes = {name: {"email": False} for name in unsubscription.notification_types}
    service.update_preferences(unsubscription.user_id, changes=changes)
