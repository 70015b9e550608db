"""An emulator of Google Cloud Storage that checks tokens and splits listings as Google does."""

import json
from functools import partial
from http.server import ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import parse_qs, quote, urlsplit

import jwt
import requests
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from gcp_storage_emulator.handlers import buckets
from gcp_storage_emulator.server import RequestHandler
from gcp_storage_emulator.storage import Storage

HOST = "127.0.0.1"
ACCOUNT = "reader@project.iam.gserviceaccount.com"
_SCOPE = "https://www.googleapis.com/auth/devstorage.read_only"
_KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)


def build_key(key: rsa.RSAPrivateKey = _KEY) -> str:
    """Return the JSON key of the service account."""
    pem = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    members = {
        "type": "service_account",
        "client_email": ACCOUNT,
        "private_key_id": "key-1",
        "private_key": pem.decode(),
        "token_uri": "https://oauth2.googleapis.com/token",
    }
    return json.dumps(members)


class _Handler(RequestHandler):
    page_items = 1000

    def do_GET(self) -> None:
        url = urlsplit(self.path)
        if not self._is_authorized():
            self._answer({"error": {"code": 401, "message": "Invalid Credentials"}}, 401)
        elif "/b/private/" in url.path:
            self._answer({"error": {"code": 403, "message": "Forbidden"}}, 403)
        elif url.path.endswith("/o") and "/b/missing/" not in url.path:
            self._answer(self._list(url.path.split("/")[-2], parse_qs(url.query)), 200)
        else:
            super().do_GET()

    def _is_authorized(self) -> bool:
        scheme, _, token = self.headers.get("Authorization", "").partition(" ")
        try:
            claims = jwt.decode(token, _KEY.public_key(), algorithms=["RS256"])
        except jwt.PyJWTError:
            return False
        return (
            scheme == "Bearer"
            and claims["iss"] == claims["sub"] == ACCOUNT
            and claims["scope"] == _SCOPE
            and claims["exp"] - claims["iat"] <= 3600
        )

    def _list(self, bucket: str, query: dict[str, list[str]]) -> dict[str, Any]:
        def get(name: str) -> str:
            return query.get(name, [""])[0]

        found, folders = self.storage.get_file_list(
            bucket, get("prefix") or None, get("delimiter") or None
        )
        start = get("pageToken") or get("startOffset")
        rest = [one for one in found if one["name"].encode() >= start.encode()]
        page, following = rest[: self.page_items], rest[self.page_items :]
        answer: dict[str, Any] = {"kind": "storage#objects", "items": page, "prefixes": folders}
        if following:
            answer["nextPageToken"] = following[0]["name"]
        return {name: value for name, value in answer.items() if value}

    def _answer(self, members: dict[str, Any], status: int) -> None:
        body = json.dumps(members).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base's name
        pass


class Server:
    """Provides buckets in memory, on a loopback port."""

    def __init__(self, *names: str) -> None:
        storage = Storage(use_memory_fs=True)
        for name in names:
            buckets.create_bucket(name, storage)
        self.handler = type("Handler", (_Handler,), {})
        self._server = ThreadingHTTPServer((HOST, 0), partial(self.handler, storage))
        Thread(target=self._server.serve_forever, daemon=True).start()
        self.url = f"http://{HOST}:{self._server.server_port}"

    def put(self, bucket: str, name: str, body: bytes) -> None:
        address = f"{self.url}/upload/storage/v1/b/{bucket}/o"
        answer = requests.post(
            f"{address}?uploadType=media&name={quote(name, safe='')}", data=body, timeout=10
        )
        assert answer.status_code == 200, answer.text

    def delete(self, bucket: str, name: str) -> None:
        url = f"{self.url}/storage/v1/b/{bucket}/o/{quote(name, safe='')}"
        assert requests.delete(url, timeout=10).status_code in (200, 204)

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()
