"""Read documents from a bucket of S3 or of a compatible object store.

Requests are signed by botocore and sent through the guarded session.
"""

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Any
from urllib.parse import quote, quote_from_bytes, unquote_to_bytes, urlsplit
from xml.etree.ElementTree import Element, ParseError

from botocore.auth import S3SigV4Auth  # type: ignore[import-untyped]
from botocore.awsrequest import AWSRequest  # type: ignore[import-untyped]
from botocore.credentials import Credentials  # type: ignore[import-untyped]
from defusedxml.ElementTree import fromstring  # type: ignore[import-untyped]
from requests import Response

from app.engines.sources.failures import build_protocol_error, build_status_error
from app.engines.sources.http_client import normalize_endpoint, read_body
from app.engines.sources.model import HostError, HostErrorKind, Network
from app.engines.sources.object_store import (
    ListingPage,
    ListingQuery,
    ObjectStore,
    ObjectStoreSource,
    Parameters,
    StoredObject,
    check_part_count,
)

_PAGE_KEYS = 1000
_SAFE_CHARS = "/-_.~"
_MAX_ERROR_BYTES = 64 * 1024
_REFUSED_KEY_CODES = frozenset(
    {
        "ExpiredToken",
        "InvalidAccessKeyId",
        "InvalidClientTokenId",
        "InvalidSecurity",
        "InvalidToken",
        "SignatureDoesNotMatch",
    }
)
_REGION = re.compile(r"[a-z0-9-]{1,40}")


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
        return build_s3_error(response, find_error_code(response))

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


def parse_listing(body: bytes) -> ListingPage:
    """Parse a page from ListObjectsV2. Raises HostError if the body is not a listing."""
    check_part_count(body, b"<", b"=")
    try:
        root: Element = fromstring(body, forbid_dtd=True)
        is_encoded = root.findtext("{*}EncodingType") == "url"
        return ListingPage(
            [_parse_object(item, is_encoded=is_encoded) for item in root.iterfind("{*}Contents")],
            list(_parse_folders(root, is_encoded=is_encoded)),
            _find_token(root),
        )
    except (ParseError, OverflowError, ValueError):
        raise build_protocol_error() from None


def _parse_object(item: Element, *, is_encoded: bool) -> StoredObject:
    size = int(item.findtext("{*}Size") or 0)
    modified = item.findtext("{*}LastModified") or ""
    version = (item.findtext("{*}ETag") or "").strip('"') or f"{size}-{modified}"
    key = _decode(item.findtext("{*}Key") or "", is_encoded=is_encoded)
    return StoredObject(key, version[:255], size, _parse_time(modified) if modified else None)


def _parse_time(text: str) -> datetime:
    time = datetime.fromisoformat(text)
    return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)


def _parse_folders(root: Element, *, is_encoded: bool) -> Iterator[bytes]:
    for prefix in root.iterfind("{*}CommonPrefixes/{*}Prefix"):
        yield _decode(prefix.text or "", is_encoded=is_encoded)


def _decode(text: str, *, is_encoded: bool) -> bytes:
    return unquote_to_bytes(text.replace("+", " ")) if is_encoded else text.encode()


def _find_token(root: Element) -> str | None:
    if root.findtext("{*}IsTruncated") != "true":
        return None
    token = root.findtext("{*}NextContinuationToken")
    if not token:
        raise ValueError("a page without a token for the next page")
    return token


def build_s3_error(response: Response, code: str, action: str = "list or read") -> HostError:
    """Build the HostError for a response with an error status and an error code.

    `code` is empty if the body of the response has no error code. See `build_status_error` for
    `action`.
    """
    region = _find_region(response, code)
    if code in _REFUSED_KEY_CODES or response.status_code == HTTPStatus.UNAUTHORIZED:
        message = "The host rejected the access key or its secret."
        return HostError(HostErrorKind.CREDENTIALS_REFUSED, message)
    if code == "RequestTimeTooSkewed":
        message = "The clocks of this service and the host differ too much; synchronize them."
        return HostError(HostErrorKind.PROTOCOL, message)
    if region:
        message = f"The bucket is in the region {region}; change `region`."
        return HostError(HostErrorKind.NOT_FOUND, message)
    return build_status_error(
        response.status_code, key="access key", container="bucket", action=action
    )


def _find_region(response: Response, code: str) -> str | None:
    if code not in ("PermanentRedirect", "TemporaryRedirect", "AuthorizationHeaderMalformed", ""):
        return None
    region = response.headers.get("x-amz-bucket-region", "")
    is_other_region = response.status_code in (301, 307, 400)
    return region if is_other_region and _REGION.fullmatch(region) else None


def find_error_code(response: Response) -> str:
    """Find the error code in a response body, or return an empty string if there is none."""
    try:
        root: Element = fromstring(read_body(response, _MAX_ERROR_BYTES), forbid_dtd=True)
    except (ParseError, ValueError, HostError):
        return ""
    return root.findtext("{*}Code") or root.findtext("Code") or ""
