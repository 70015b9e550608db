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
    kinds: tuple[str, ...]


def build_token(user_id: UUID, kinds: Iterable[str]) -> str:
    """Build a signed token that can turn off a user's emails for the notification types `kinds`."""
    payload = user_id.bytes + ",".join(sorted(kinds)).encode()
    signature = container.keyring().sign(_PURPOSE, payload)
    return base64.urlsafe_b64encode(signature + payload).rstrip(b"=").decode()


def read_token(token: str) -> Unsubscription:
    """Verify a token and return its user and notification types.

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
    kinds = payload[_ID_BYTES:].decode().split(",")
    # A later release may have removed a notification type.
    known_kinds = tuple(kind for kind in kinds if kind in DEFAULT_CHANNELS)
    return Unsubscription(UUID(bytes=payload[:_ID_BYTES]), known_kinds)


def get_address(subscription: Unsubscription) -> str:
    """Return the user's email address. Raises 404 if the account no longer exists."""
    user = queries.get(subscription.user_id)
    if user is None:
        raise errors.not_found()
    return user.email


def unsubscribe(token: str) -> None:
    """Turn off the emails that a token is signed for.

    Raises 404 if the token is invalid or its user no longer exists.
    """
    subscription = read_token(token)
    audit.act_as("user", subscription.user_id, get_address(subscription))
    changes = {kind: {"email": False} for kind in subscription.kinds}
    service.update_preferences(subscription.user_id, changes=changes)
