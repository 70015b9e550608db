"""Read documents from a bucket of S3 or of a compatible object store.

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

from app.engines.sources.http_client import HttpClient, read_body
from app.engines.sources.model import Network, SourceError
from app.engines.sources.object_store import (
    ListingPage,
    ListingQuery,
    ObjectStoreSource,
    normalize_endpoint,
)
from app.engines.sources.s3_responses import build_refusal_error, parse_listing

_PAGE_KEYS = 1000
_SAFE_CHARS = "/-_.~"


def open_source(
    settings: Mapping[str, Any], network: Network, local_root: Path | None
) -> ObjectStoreSource:
    """Open a bucket, or a folder in it, as a source.

    Raises SourceError if the endpoint URL is invalid.
    """
    del local_root
    region = str(settings.get("region") or "us-east-1")
    credentials = Credentials(settings["access_key_id"], settings["secret_access_key"])
    store = _Bucket(
        client=HttpClient(network),
        signer=S3SigV4Auth(credentials, "s3", region),
        address=build_bucket_url(str(settings["bucket"]), region, settings.get("endpoint_url")),
    )
    return ObjectStoreSource(store, str(settings.get("prefix", "")))


def build_bucket_url(bucket: str, region: str, endpoint: str | None) -> str:
    """Build the URL of a bucket, without a trailing slash.

    Raises SourceError if `endpoint` is not a valid URL.
    """
    if endpoint:
        return f"{normalize_endpoint(endpoint)}/{quote(bucket)}"
    domain = "amazonaws.com.cn" if region.startswith("cn-") else "amazonaws.com"
    # The certificate of the host does not cover bucket names with dots.
    if "." in bucket:
        return f"https://s3.{region}.{domain}/{bucket}"
    return f"https://{bucket}.s3.{region}.{domain}"


def build_object_url(address: str, key: bytes) -> str:
    """Build the URL of an object, with its key percent-encoded.

    Args:
        address: URL of the bucket.
        key: name of the object.
    """
    return f"{address}/{quote_from_bytes(key, safe=_SAFE_CHARS)}"


class _Bucket:
    """A bucket, whose listings are sorted by the bytes of the keys.

    Args:
        client: sends the requests.
        signer: signs the requests.
        address: URL of the bucket.
    """

    can_start_after = True

    def __init__(self, *, client: HttpClient, signer: S3SigV4Auth, address: str) -> None:
        self._client = client
        self._signer = signer
        self._address = address

    def list_page(self, query: ListingQuery, token: str | None) -> ListingPage:
        parameters: dict[str, str | bytes] = {
            "list-type": "2",
            "encoding-type": "url",
            "max-keys": str(_PAGE_KEYS),
            "prefix": query.prefix,
        }
        if query.after:
            parameters["start-after"] = query.after
        if query.by_folder:
            parameters["delimiter"] = "/"
        if token is not None:
            parameters["continuation-token"] = token
        url = f"{self._address}/?{urlencode(sorted(parameters.items()), quote_via=quote)}"
        with self._request(url, is_document=False) as response:
            if response.status_code != HTTPStatus.OK:
                raise build_refusal_error(response)
            return parse_listing(read_body(response))

    @contextmanager
    def read(self, key: bytes) -> Iterator[Response]:
        with self._request(build_object_url(self._address, key), is_document=True) as response:
            yield response

    def build_refusal_error(self, response: Response) -> SourceError:
        return build_refusal_error(response)

    def close(self) -> None:
        self._client.close()

    @contextmanager
    def _request(self, url: str, *, is_document: bool) -> Iterator[Response]:
        request = AWSRequest("GET", url, headers={"Host": urlsplit(url).netloc})
        self._signer.add_auth(request)
        headers = dict(request.headers.items())
        with self._client.request(url, headers, is_document=is_document) as response:
            yield response
