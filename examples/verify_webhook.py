"""Verify the signatures of webhooks with the standard library; copy the functions you need.

    python examples/verify_webhook.py examples/webhook_vectors.json

This command checks the functions with test vectors. It prints a line for each vector, and exits
with status 1 if a result differs from the vector.
"""

import base64
import binascii
import hashlib
import hmac
import json
import sys
import time
from collections.abc import Mapping
from pathlib import Path

TOLERANCE_SECONDS = 300


def verify_body(secret: str, body: bytes, signature: str) -> bool:
    """Return whether `signature`, the value of `X-Service-Signature`, is valid for the body."""
    expected = "sha256=" + hmac.new(secret.encode("ascii"), body, hashlib.sha256).hexdigest()
    return hmac.compare_digest(expected.encode(), signature.encode())


def verify_standard(
    secret: str, body: bytes, headers: Mapping[str, str], now: float | None = None
) -> bool:
    """Return whether `webhook-signature` is valid for the body and the other `webhook-` headers.

    The names in `headers` are in lower case. After a rotation of the secret, the header has two
    signatures, and one of them must be valid for `secret`. The signature is invalid if the
    timestamp is more than five minutes before or after `now` (Unix time, by default the clock).
    """
    message_id, timestamp = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    if not (timestamp.isascii() and timestamp.isdigit() and len(timestamp) <= 12):
        return False
    if abs((time.time() if now is None else now) - int(timestamp)) > TOLERANCE_SECONDS:
        return False
    signed = f"{message_id}.{timestamp}.".encode() + body
    expected = hmac.new(secret.encode("ascii"), signed, hashlib.sha256).digest()
    is_valid = False
    for value in headers.get("webhook-signature", "").split(" "):
        version, _, encoded = value.partition(",")
        try:
            digest = base64.b64decode(encoded, validate=True)
        except (binascii.Error, ValueError):
            continue
        is_valid |= version == "v1" and hmac.compare_digest(expected, digest)
    return is_valid


def main(path: str) -> int:
    """Check the test vectors in a file; return 0, or 1 if a result differs from its vector."""
    vectors = json.loads(Path(path).read_text(encoding="utf-8"))
    failures = 0
    for vector in vectors:
        secret, body, headers = vector["secret"], vector["body"].encode(), vector["headers"]
        results = {
            "body": verify_body(secret, body, headers["x-service-signature"]),
            "standard": verify_standard(secret, body, headers, vector["now"]),
        }
        failures += results != vector["valid"]
        print("ok" if results == vector["valid"] else "DIFFERS", vector["name"])
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
