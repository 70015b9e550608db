"""Read documents from a bucket of S3 or of a compatible object store.

Requests are signed by botocore and sent through the guarded session.
"""

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, quote_from_bytes, urlsplit

from botocore.auth import S3SigV4Auth  # type: ignore[import-untyped]
from botocore.awsrequest import AWSRequest  # type: ignore[import-untyped]
from botocore.credentials import Credentials  # type: ignore[import-untyped]
from requests import Response

from app.engines.sources.http_client import normalize_endpoint
from app.engines.sources.model import HostError, Network
from app.engines.sources.object_store import (
    ListingPage,
    ListingQuery,
    ObjectStore,
    ObjectStoreSource,
    Parameters,
)
from app.engines.sources.s3_responses import build_code_error, find_error_code, parse_listing

_PAGE_KEYS = 1000
_SAFE_CHARS = "/-_.~"


def open_source(settings: Mapping[str, Any], network: Network) -> ObjectStoreSource:
    """Open a bucket, or a folder in it, as a source.

    Raises HostError if the endpoint URL is invalid.
    """
    region = str(settings.get("region") or "us-east-1")
    credentials = Credentials(settings["access_key_id"], settings["secret_access_key"])
    address = build_bucket_url(str(settings["bucket"]), region, settings.get("endpoint_url"))
    store = _Bucket(network, address, S3SigV4Auth(credentials, "s3", region))
    return ObjectStoreSource(store, str(settings.get("prefix", "")))


def build_bucket_url(bucket: str, region: str, endpoint: str | None) -> str:
    """Build the URL of a bucket, without a trailing slash.

    Raises HostError if `endpoint` is not a valid URL.
    """
    if endpoint:
        return f"{normalize_endpoint(endpoint)}/{quote(bucket)}"
    domain = "amazonaws.com.cn" if region.startswith("cn-") else "amazonaws.com"
    # The certificate of the host does not cover bucket names with dots.
    if "." in bucket:
        return f"https://s3.{region}.{domain}/{bucket}"
    return f"https://{bucket}.s3.{region}.{domain}"


def build_object_url(address: str, key: bytes) -> str:
    """Build the URL of an object from the URL of its bucket, with its key percent-encoded."""
    return f"{address}/{quote_from_bytes(key, safe=_SAFE_CHARS)}"


class _Bucket(ObjectStore):
    """A bucket, whose listings are sorted by the bytes of the keys."""

    def __init__(self, network: Network, address: str, signer: S3SigV4Auth) -> None:
        super().__init__(network, f"{address}/")
        self._address = address
        self._signer = signer

    def build_refusal_error(self, response: Response) -> HostError:
        return build_code_error(response, find_error_code(response))

    def _build_parameters(self, query: ListingQuery, token: str | None) -> Parameters:
        return {
            "list-type": "2",
            "encoding-type": "url",
            "max-keys": str(_PAGE_KEYS),
            "prefix": query.prefix,
            "start-after": query.after or None,
            "delimiter": "/" if query.by_folder else None,
            "continuation-token": token,
        }

    def _parse_listing(self, body: bytes) -> ListingPage:
        return parse_listing(body)

    def _build_object_url(self, key: bytes) -> str:
        return build_object_url(self._address, key)

    def _sign(self, url: str) -> tuple[str, dict[str, str]]:
        request = AWSRequest("GET", url, headers={"Host": urlsplit(url).netloc})
        self._signer.add_auth(request)
        return url, dict(request.headers.items())
