"""Documents in a bucket of S3, or of an object store with the same interface.

Requests are signed by botocore and sent through the guarded session.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http import HTTPStatus
from pathlib import Path
from typing import Any
from urllib.parse import quote, quote_from_bytes, urlencode, urlsplit

from botocore.auth import S3SigV4Auth  # type: ignore[import-untyped]
from botocore.awsrequest import AWSRequest  # type: ignore[import-untyped]
from botocore.credentials import Credentials  # type: ignore[import-untyped]
from requests import Response

from app.engines.sources.failures import describe_missing_folder, describe_protocol_error
from app.engines.sources.http_client import HttpClient, read_body, read_chunks
from app.engines.sources.model import (
    Entry,
    Network,
    ObjectMissing,
    SourceError,
    SourceErrorKind,
    SourceObject,
)
from app.engines.sources.paths import decode_path, encode_key
from app.engines.sources.s3_answers import Listing, describe_refusal, parse_listing

_PAGE_KEYS = 1000
_SAFE = "/-_.~"


def open_source(
    settings: Mapping[str, Any], network: Network, local_root: Path | None
) -> "S3Source":
    """Return the source of a bucket or of a folder in it."""
    del local_root
    region = str(settings.get("region") or "us-east-1")
    bucket = str(settings["bucket"])
    credentials = Credentials(settings["access_key_id"], settings["secret_access_key"])
    return S3Source(
        client=HttpClient(network),
        signer=S3SigV4Auth(credentials, "s3", region),
        address=_build_address(bucket, region, settings.get("endpoint_url")),
        prefix=_build_prefix(str(settings.get("prefix", ""))),
    )


def _build_address(bucket: str, region: str, endpoint: str | None) -> str:
    """Return the URL of a bucket, without a slash at its end. Raises SourceError."""
    if endpoint:
        try:
            urlsplit(endpoint)
        except ValueError:
            message = "`endpoint_url` is not a valid URL."
            raise SourceError(SourceErrorKind.PROTOCOL, message) from None
        return f"{endpoint.rstrip('/')}/{quote(bucket)}"
    domain = "amazonaws.com.cn" if region.startswith("cn-") else "amazonaws.com"
    # The certificate of the host does not cover names with further dots.
    if "." in bucket:
        return f"https://s3.{region}.{domain}/{bucket}"
    return f"https://{bucket}.s3.{region}.{domain}"


def _build_prefix(prefix: str) -> bytes:
    folder = prefix.strip("/").encode("utf-8", "replace")
    return folder + b"/" if folder else b""


class S3Source:
    """A bucket, or a folder in it.

    Args:
        client: sends the requests.
        signer: signs the requests.
        address: URL of the bucket.
        prefix: the folder with a slash at its end, or nothing.
    """

    def __init__(
        self, *, client: HttpClient, signer: S3SigV4Auth, address: str, prefix: bytes
    ) -> None:
        self._client = client
        self._signer = signer
        self._address = address
        self._prefix = prefix

    def list_objects(self, after: str | None = None) -> Iterator[SourceObject]:
        """Yield all documents, sorted by the bytes of their keys."""
        start = self._prefix + decode_path(after) if after else b""
        for page in self._list_pages(self._prefix, {"start-after": start} if start else {}):
            for stored in page.objects:
                # A key that ends with a slash is a folder without documents.
                if stored.key.startswith(self._prefix) and not stored.key.endswith(b"/"):
                    path = encode_key(stored.key[len(self._prefix) :])
                    yield SourceObject(path, stored.version, stored.size, stored.modified_at)

    def browse(self, path: str, limit: int) -> list[Entry]:
        """Return at most `limit` entries of a folder, in order of their names."""
        folder = self._prefix + (decode_path(path) + b"/" if path else b"")
        entries: list[Entry] = []
        is_empty = True
        for page in self._list_pages(folder, {"delimiter": b"/"}):
            is_empty = is_empty and not page.objects and not page.folders
            entries += self._build_entries(page)
            if len(entries) >= limit:
                break
        if path and is_empty:
            raise describe_missing_folder()
        return sorted(entries, key=lambda entry: entry.path)[:limit]

    @contextmanager
    def open(self, path: str) -> Iterator[Iterator[bytes]]:
        """Read a document in chunks."""
        key = self._prefix + decode_path(path)
        if not path or key.endswith(b"/"):
            raise ObjectMissing
        url = f"{self._address}/{quote_from_bytes(key, safe=_SAFE)}"
        with self._request(url, is_document=True) as response:
            if response.status_code == HTTPStatus.NOT_FOUND:
                raise ObjectMissing
            if response.status_code != HTTPStatus.OK:
                raise describe_refusal(response)
            yield read_chunks(response)

    def close(self) -> None:
        """Close all connections."""
        self._client.close()

    def _build_entries(self, page: Listing) -> Iterator[Entry]:
        start = len(self._prefix)
        for folder in page.folders:
            name = folder[start:-1]
            # An empty name between two slashes is no folder that a person can open.
            if folder.startswith(self._prefix) and name and not name.endswith(b"/"):
                yield Entry(encode_key(name), is_folder=True)
        for stored in page.objects:
            if stored.key.startswith(self._prefix) and not stored.key.endswith(b"/"):
                path = encode_key(stored.key[start:])
                yield Entry(path, False, stored.size, stored.modified_at)  # noqa: FBT003

    def _list_pages(self, prefix: bytes, query: Mapping[str, bytes]) -> Iterator[Listing]:
        token: str | None = None
        while True:
            page = self._list_page(prefix, query, token)
            yield page
            if page.token is None:
                return
            if page.token == token:
                raise describe_protocol_error()
            token = page.token

    def _list_page(self, prefix: bytes, query: Mapping[str, bytes], token: str | None) -> Listing:
        parameters: dict[str, str | bytes] = {
            "list-type": "2",
            "encoding-type": "url",
            "max-keys": str(_PAGE_KEYS),
            "prefix": prefix,
            **query,
        }
        if token is not None:
            parameters["continuation-token"] = token
        url = f"{self._address}/?{urlencode(sorted(parameters.items()), quote_via=quote)}"
        with self._request(url, is_document=False) as response:
            if response.status_code != HTTPStatus.OK:
                raise describe_refusal(response)
            return parse_listing(read_body(response))

    @contextmanager
    def _request(self, url: str, *, is_document: bool) -> Iterator[Response]:
        request = AWSRequest("GET", url, headers={"Host": urlsplit(url).netloc})
        self._signer.add_auth(request)
        headers = dict(request.headers.items())
        with self._client.request(url, headers, is_document=is_document) as response:
            yield response
