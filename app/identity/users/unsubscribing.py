"""Unsubscribe links in emails: signed for one user and a set of notification kinds.

The link works without signing in and never expires, as mail programs expect (RFC 8058). It can only
turn off the emails of these kinds.
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


class Subscription(NamedTuple):
    """The emails that a token turns off."""

    user_id: UUID
    kinds: tuple[str, ...]


def build_token(user_id: UUID, kinds: Iterable[str]) -> str:
    """Return a token that turns off a user's emails of the given kinds."""
    payload = user_id.bytes + ",".join(sorted(kinds)).encode()
    signature = container.keyring().sign(_PURPOSE, payload)
    return base64.urlsafe_b64encode(signature + payload).rstrip(b"=").decode()


def read_token(token: str) -> Subscription:
    """Return the emails that a token turns off. Raises 404 if `build_token` did not create it."""
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
    # A later release may have removed a kind.
    known_kinds = tuple(kind for kind in kinds if kind in DEFAULT_CHANNELS)
    return Subscription(UUID(bytes=payload[:_ID_BYTES]), known_kinds)


def get_address(subscription: Subscription) -> str:
    """Return the address of the user. Raises 404 if the account no longer exists."""
    user = queries.get(subscription.user_id)
    if user is None:
        raise errors.not_found()
    return user.email


def unsubscribe(token: str) -> None:
    """Turn off the emails of a token. Raises 404 if the token or its user is unknown."""
    subscription = read_token(token)
    audit.act_as("user", subscription.user_id, get_address(subscription))
    changes = {kind: {"email": False} for kind in subscription.kinds}
    service.update_preferences(subscription.user_id, changes=changes)
