"""A provider that returns what an honest one never would, and records its requests."""

import base64
import hashlib
import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import parse_qs, urlsplit

from joserfc import jwt
from joserfc.jwk import RSAKey

from tests.factories.servers import serve_http

HOST = "127.0.0.2"
CLIENT = "labeling"
JSON = "application/json"


@dataclass(frozen=True)
class Raw:
    """A response sent as it is. With `drip`, one byte is sent every `drip` seconds."""

    body: bytes
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    drip: float = 0


def b64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


@cache
def new_key(kid: str) -> RSAKey:
    """Return the key with this name. Keys are cached, because creating one is slow."""
    return RSAKey.generate_key(2048, {"kid": kid, "use": "sig", "alg": "RS256"})


@dataclass
class Hostile:
    """The provider's state, created by the fixture and changed by tests."""

    issuer: str = ""
    key: RSAKey = field(default_factory=lambda: new_key("one"))
    metadata: dict[str, Any] = field(default_factory=dict)
    published: list[Any] | None = None
    claims: dict[str, Any] = field(default_factory=dict)
    header: dict[str, Any] = field(default_factory=dict)
    sign: Callable[[dict[str, Any], dict[str, Any]], Any] | None = None
    token_answer: dict[str, Any] = field(default_factory=dict)
    userinfo: dict[str, Any] = field(default_factory=dict)
    raw: dict[str, Raw] = field(default_factory=dict)
    codes: dict[str, dict[str, str]] = field(default_factory=dict)
    asked: Counter[str] = field(default_factory=Counter)
    forms: list[dict[str, str]] = field(default_factory=list)
    authorizations: list[str | None] = field(default_factory=list)

    def document(self) -> dict[str, Any]:
        document = {
            "issuer": self.issuer,
            "authorization_endpoint": f"{self.issuer}/authorize",
            "token_endpoint": f"{self.issuer}/token",
            "userinfo_endpoint": f"{self.issuer}/userinfo",
            "jwks_uri": f"{self.issuer}/jwks",
            "response_types_supported": ["code"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": ["RS256"],
            "code_challenge_methods_supported": ["S256"],
            "authorization_response_iss_parameter_supported": True,
            **self.metadata,
        }
        return {name: value for name, value in document.items() if value is not None}

    def keys(self) -> dict[str, Any]:
        published = self.published
        return {"keys": [self.key.as_dict(private=False)] if published is None else published}

    def build_callback_query(self, url: str, code: str = "the-code") -> dict[str, str]:
        """Return the query of the callback to which the provider redirects from `url`."""
        query = {name: values[0] for name, values in parse_qs(urlsplit(url).query).items()}
        self.codes[code] = query
        back = parse_qs(urlsplit(query["redirect_uri"]).query)
        own = {name: values[0] for name, values in back.items()}
        return {**own, "code": code, "state": query["state"], "iss": self.issuer}

    def id_token(self, query: dict[str, str]) -> Any:
        now = int(time.time())
        claims = {
            "iss": self.issuer,
            "aud": CLIENT,
            "sub": "mallory",
            "iat": now,
            "exp": now + 300,
            "nonce": query["nonce"],
            "email": f"mallory.{query['state'][:8].lower()}@hostile.example",
            "name": "Mallory",
            **self.claims,
        }
        claims = {name: value for name, value in claims.items() if value is not None}
        header = {"alg": "RS256", "kid": self.key.kid, **self.header}
        if self.sign is not None:
            return self.sign(header, claims)
        return jwt.encode(header, claims, self.key)

    def tokens(self, form: dict[str, str]) -> Raw:
        query = self.codes.pop(form.get("code", ""), None)
        digest = b64(hashlib.sha256(form.get("code_verifier", "").encode()).digest())
        if (
            query is None
            or query["code_challenge"] != digest
            or query["redirect_uri"] != form.get("redirect_uri")
        ):
            return Raw(b'{"error": "invalid_grant"}', 400, {"Content-Type": JSON})
        tokens = {
            "access_token": "the-access-token",
            "token_type": "Bearer",
            "id_token": self.id_token(query),
            **self.token_answer,
        }
        return Raw(json.dumps({n: v for n, v in tokens.items() if v is not None}).encode())

    def answer(self, path: str, form: dict[str, str]) -> Raw:
        if path in self.raw:
            return self.raw[path]
        if path == "/.well-known/openid-configuration":
            return Raw(json.dumps(self.document()).encode())
        if path == "/jwks":
            return Raw(json.dumps(self.keys()).encode())
        if path == "/token":
            return self.tokens(form)
        if path == "/userinfo":
            return Raw(json.dumps(self.userinfo).encode())
        return Raw(b"", 404)


class _Handler(BaseHTTPRequestHandler):
    provider: Hostile

    def do_GET(self) -> None:
        self._serve({})

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        form = {name: values[0] for name, values in parse_qs(body).items()}
        self.provider.forms.append(form)
        self.provider.authorizations.append(self.headers.get("Authorization"))
        self._serve(form)

    def _serve(self, form: dict[str, str]) -> None:
        path = urlsplit(self.path).path
        self.provider.asked[path] += 1
        answer = self.provider.answer(path, form)
        self.send_response(answer.status)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(answer.body)))
        self.end_headers()
        try:
            self._send(answer)
        except OSError:
            self.close_connection = True  # the service closed the connection, as it should

    def _send(self, answer: Raw) -> None:
        if not answer.drip:
            self.wfile.write(answer.body)
            return
        pause = threading.Event()
        for byte in answer.body:
            self.wfile.write(bytes([byte]))
            self.wfile.flush()
            pause.wait(answer.drip)

    def log_message(self, *_: Any) -> None:
        pass


@contextmanager
def serve(provider: Hostile) -> Iterator[None]:
    """Run `provider` during the block, and set its issuer."""
    with serve_http(type("Handler", (_Handler,), {"provider": provider}), HOST) as port:
        provider.issuer = f"http://{HOST}:{port}"
        yield
