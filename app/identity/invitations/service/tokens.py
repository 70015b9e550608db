"""Tokens of invitations: random, mailed, and kept only as a keyed hash."""

from app.kit import container, secrets


def new() -> tuple[str, str]:
    """A token, and what is stored of it."""
    token = secrets.random_token()
    return token, stored(token)


def stored(token: str) -> str:
    """What is stored of a token."""
    return container.keyring().fingerprint("invitation", token)
