"""Signatures of deliveries.

`X-Service-Signature` is `sha256=` and the hexadecimal HMAC-SHA-256 (RFC 2104) of the body. In
addition there are the three headers of Standard Webhooks (https://www.standardwebhooks.com), whose
HMAC covers `{id}.{timestamp}.{body}`. The key of both is the secret's 64 ASCII characters.
"""

import base64
import hmac
from collections.abc import Sequence


def sign_body(secret: bytes, body: bytes) -> str:
    """Return the value of `X-Service-Signature`."""
    return "sha256=" + hmac.digest(secret, body, "sha256").hex()


def sign_standard(secrets: Sequence[bytes], message_id: str, timestamp: int, body: bytes) -> str:
    """Return the value of `webhook-signature`: a signature for each secret, separated by spaces."""
    signed = b"%s.%d.%s" % (message_id.encode("ascii"), timestamp, body)
    digests = (hmac.digest(secret, signed, "sha256") for secret in secrets)
    return " ".join("v1," + base64.b64encode(digest).decode("ascii") for digest in digests)
