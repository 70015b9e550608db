"""Parse responses from S3 and from compatible object stores."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from http import HTTPStatus
from urllib.parse import unquote_to_bytes
from xml.etree.ElementTree import Element, ParseError

from defusedxml.ElementTree import fromstring  # type: ignore[import-untyped]
from requests import Response

from app.engines.sources.failures import build_protocol_error, build_status_error
from app.engines.sources.http_client import read_body
from app.engines.sources.model import HostError, HostErrorKind
from app.engines.sources.object_store import ListingPage, StoredObject, check_parts

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


def parse_listing(body: bytes) -> ListingPage:
    """Parse a page from ListObjectsV2. Raises HostError if the body is not a listing."""
    check_parts(body, b"<", b"=")
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


def build_code_error(response: Response, code: str, action: str = "list or read") -> HostError:
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
