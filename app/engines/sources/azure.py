"""Read documents from an Azure Blob Storage container over the REST API.

Requests carry a shared access signature: either the signature in the settings, or a signature that
Microsoft's library creates from the account key without opening a connection.
"""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from functools import partial
from http import HTTPStatus
from typing import Any
from urllib.parse import quote, quote_from_bytes, unquote_to_bytes
from xml.etree.ElementTree import Element, ParseError

from azure.storage.blob import ContainerSasPermissions, generate_container_sas
from defusedxml.ElementTree import fromstring  # type: ignore[import-untyped]
from requests import Response

from app.engines.sources.failures import build_protocol_error, build_status_error
from app.engines.sources.http_client import normalize_endpoint
from app.engines.sources.model import HostError, HostErrorKind, Network
from app.engines.sources.object_store import (
    ListingPage,
    ListingQuery,
    ObjectStore,
    ObjectStoreSource,
    Parameters,
    StoredObject,
    cache_credential,
    check_part_count,
)

_API_VERSION = "2021-12-02"
_PAGE_ITEMS = 1000
"""The maximum number of blobs per page of a listing. Azure allows 5,000, but 5,000 long names would
exceed `MAX_LISTING_BYTES`."""
_SIGNATURE_LIFETIME = timedelta(days=1)
_MIN_VALIDITY = timedelta(hours=12)
"""A signature is replaced when its remaining validity is shorter than this time."""
_MAX_CLOCK_DIFFERENCE = timedelta(minutes=15)
_REFUSED_KEY_CODES = frozenset(
    {"AuthenticationFailed", "InvalidAuthenticationInfo", "KeyBasedAuthenticationNotPermitted"}
)


def open_source(settings: Mapping[str, Any], network: Network) -> ObjectStoreSource:
    """Open a container, or a folder in it, as a source.

    Raises HostError if the account key or the endpoint URL is invalid.
    """
    account, container = str(settings["account"]), str(settings["container"])
    endpoint = settings.get("endpoint_url") or f"https://{account}.blob.core.windows.net"
    address = f"{normalize_endpoint(str(endpoint))}/{quote(container)}"
    if "sas_token" in settings:
        sas_token = str(settings["sas_token"]).removeprefix("?")
        store = _Container(network, address, lambda: sas_token)
    else:
        build = partial(_build_signature, account, container, str(settings["account_key"]))
        seconds = (_SIGNATURE_LIFETIME - _MIN_VALIDITY).total_seconds()
        store = _Container(network, address, cache_credential(build, seconds))
    return ObjectStoreSource(store, str(settings.get("prefix", "")))


def _build_signature(account: str, container: str, key: str) -> str:
    """Build a signature that allows listing and reading a container.

    Raises HostError if the key is invalid.
    """
    now = datetime.now(UTC)
    try:
        return generate_container_sas(
            account,
            container,
            account_key=key,
            permission=ContainerSasPermissions(read=True, list=True),
            start=now - _MAX_CLOCK_DIFFERENCE,
            expiry=now + _SIGNATURE_LIFETIME,
        )
    except Exception:  # noqa: BLE001 - the library has no documented error for a damaged key
        message = "`account_key` is not the key of a storage account."
        raise HostError(HostErrorKind.CREDENTIALS_REFUSED, message) from None


class _Container(ObjectStore):
    """An Azure container. `get_signature` returns a valid signature as a URL query."""

    can_start_after = False

    def __init__(self, network: Network, address: str, get_signature: Callable[[], str]) -> None:
        super().__init__(network, address)
        self._get_signature = get_signature

    def build_refusal_error(self, response: Response) -> HostError:
        code = response.headers.get("x-ms-error-code", "")
        if code == "BlobArchived":
            message = "The document is in the archive tier; move it to another tier first."
            return HostError(HostErrorKind.NOT_ALLOWED, message)
        status = HTTPStatus.UNAUTHORIZED if code in _REFUSED_KEY_CODES else response.status_code
        return build_status_error(status, key="key or signature", container="container")

    def _build_parameters(self, query: ListingQuery, token: str | None) -> Parameters:
        return {
            "restype": "container",
            "comp": "list",
            "maxresults": str(_PAGE_ITEMS),
            "prefix": query.prefix,
            "delimiter": "/" if query.by_folder else None,
            "marker": token,
        }

    def _parse_listing(self, body: bytes) -> ListingPage:
        # See https://learn.microsoft.com/rest/api/storageservices/list-blobs.
        check_part_count(body, b"<", b"=")
        try:
            root: Element = fromstring(body, forbid_dtd=True)
            if root.tag != "EnumerationResults":
                raise build_protocol_error()
            blobs = root.iterfind("Blobs/Blob")
            return ListingPage(
                [_parse_blob(blob) for blob in blobs if not _is_folder(blob)],
                [_read_name(prefix) for prefix in root.iterfind("Blobs/BlobPrefix")],
                root.findtext("NextMarker") or None,
            )
        except (ParseError, OverflowError, ValueError):
            raise build_protocol_error() from None

    def _build_object_url(self, key: bytes) -> str:
        return f"{self._listing_url}/{quote_from_bytes(key, safe='/-_.~')}?"

    def _sign(self, url: str) -> tuple[str, dict[str, str]]:
        separator = "" if url.endswith("?") else "&"
        return f"{url}{separator}{self._get_signature()}", {"x-ms-version": _API_VERSION}


def _is_folder(blob: Element) -> bool:
    """Return whether a blob is a folder: hierarchical namespaces list folders as blobs, too."""
    return blob.findtext("Properties/ResourceType") == "directory"


def _parse_blob(blob: Element) -> StoredObject:
    size = int(blob.findtext("Properties/Content-Length") or 0)
    modified = blob.findtext("Properties/Last-Modified") or ""
    version = (blob.findtext("Properties/Etag") or "").strip('"') or f"{size}-{modified}"
    modified_at = parsedate_to_datetime(modified).astimezone(UTC) if modified else None
    return StoredObject(_read_name(blob), version[:255], size, modified_at)


def _read_name(item: Element) -> bytes:
    """Read and decode the name of a blob or folder. Raises ValueError if there is no name."""
    name = item.find("Name")
    if name is None or not name.text:
        raise ValueError("an element without a name")
    # Azure percent-encodes names that XML cannot contain.
    is_encoded = name.get("Encoded", "").lower() == "true"
    return unquote_to_bytes(name.text) if is_encoded else name.text.encode()
