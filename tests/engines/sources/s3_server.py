"""An S3 server: moto, which checks signatures and permissions, but not content digests."""

import hashlib
import io
import json
import threading
from collections.abc import Callable, Iterable
from typing import Any

import boto3
import requests
from moto.moto_server.werkzeug_app import (
    DomainDispatcherApplication,
    MotoRequestHandler,
    create_backend_app,
)
from werkzeug.serving import make_server

from tests.engines.sources.network import connect_freely

_MISMATCH = (
    b'<?xml version="1.0" encoding="UTF-8"?><Error><Code>XAmzContentSHA256Mismatch</Code>'
    b"<Message>The provided 'x-amz-content-sha256' header does not match what was computed."
    b"</Message></Error>"
)


class Server:
    """An object store with a user who has the keys in `settings`.

    The user may read and write in the buckets `documents` and `exports`, only read in the bucket
    `read-only`, and do nothing in the bucket `private`.
    """

    def __init__(self) -> None:
        self._server = make_server(
            "127.0.0.1",
            0,
            _DigestCheck(DomainDispatcherApplication(create_backend_app)),
            threaded=True,
            request_handler=MotoRequestHandler,
        )
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()
        self.port = self._server.server_port
        self.url = f"http://127.0.0.1:{self.port}"
        key = self._create_user()
        self.settings: dict[str, Any] = {
            "endpoint_url": self.url,
            "access_key_id": key["AccessKeyId"],
            "secret_access_key": key["SecretAccessKey"],
        }
        self.client = self._build_client("s3", key["AccessKeyId"], key["SecretAccessKey"])
        requests.post(f"{self.url}/moto-api/reset-auth", data=b"0", timeout=10)

    def put(self, bucket: str, key: str, body: bytes) -> None:
        with connect_freely():
            self.client.put_object(Bucket=bucket, Key=key, Body=body)

    def delete(self, bucket: str, key: str) -> None:
        with connect_freely():
            self.client.delete_object(Bucket=bucket, Key=key)

    def stop(self) -> None:
        """Stop the server, and remove the buckets and users, which all servers here share."""
        requests.post(f"{self.url}/moto-api/reset-auth", data=b"Infinity", timeout=10)
        requests.post(f"{self.url}/moto-api/reset", timeout=10)
        self._server.shutdown()
        self._thread.join(10)

    def _build_client(self, service: str, key_id: str = "setup", secret: str = "setup") -> Any:
        return boto3.client(
            service,  # type: ignore[call-overload]
            endpoint_url=self.url,
            region_name="us-east-1",
            aws_access_key_id=key_id,
            aws_secret_access_key=secret,
        )

    def _create_user(self) -> dict[str, str]:
        client, iam = self._build_client("s3"), self._build_client("iam")
        for bucket in ("documents", "exports", "read-only", "private"):
            client.create_bucket(Bucket=bucket)
        statements = [
            _allow("s3:*", "documents"),
            _allow("s3:*", "exports"),
            _allow("s3:*", "missing"),
            _allow("s3:GetObject", "read-only"),
        ]
        iam.create_user(UserName="user")
        iam.put_user_policy(
            UserName="user",
            PolicyName="buckets",
            PolicyDocument=json.dumps({"Version": "2012-10-17", "Statement": statements}),
        )
        key: dict[str, str] = iam.create_access_key(UserName="user")["AccessKey"]
        return key


def _allow(action: str, bucket: str) -> dict[str, Any]:
    resources = [f"arn:aws:s3:::{bucket}", f"arn:aws:s3:::{bucket}/*"]
    return {"Effect": "Allow", "Action": action, "Resource": resources}


class _DigestCheck:
    """Refuses bodies that do not match the signed digest, as S3 does."""

    def __init__(self, app: Any) -> None:
        self._app = app

    def __call__(
        self, environ: dict[str, Any], start_response: Callable[..., Any]
    ) -> Iterable[bytes]:
        body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
        expected = environ.get("HTTP_X_AMZ_CONTENT_SHA256", "")
        if len(expected) == 64 and hashlib.sha256(body).hexdigest() != expected:
            headers = [("Content-Type", "application/xml"), ("Content-Length", str(len(_MISMATCH)))]
            start_response("400 Bad Request", headers)
            return [_MISMATCH]
        environ["wsgi.input"] = io.BytesIO(body)
        answer: Iterable[bytes] = self._app(environ, start_response)
        return answer
