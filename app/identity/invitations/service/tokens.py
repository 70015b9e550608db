"""Random tokens of invitations; only a keyed hash is stored."""

from app.kit import container, secrets


def create() -> tuple[str, str]:
    """Create a token, and return it with the hash to store."""
    token = secrets.random_token()
    return token, hash_token(token)


def hash_token(token: str) -> str:
    """Return the hash of a token, as it is stored."""
    return container.keyring().fingerprint("invitation", token)
