"""Read documents from a Google Cloud Storage bucket over the JSON API.

Each request carries a token that this service signs with the key of the service account, so no
authorization server is involved (Google AIP-4111, https://google.aip.dev/auth/4111).
"""

import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import partial
from typing import Any
from urllib.parse import quote, quote_from_bytes

import jwt
import orjson
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
from app.engines.sources.private_keys import KEY_ERRORS, PrivateKey, load_key

_ENDPOINT = "https://storage.googleapis.com"
_SCOPE = "https://www.googleapis.com/auth/devstorage.read_only"
_TOKEN_SECONDS = 3600
_MIN_VALIDITY_SECONDS = 600
"""A token is replaced when its remaining validity is shorter than this time."""
_PAGE_ITEMS = 1000
_FIELDS = "nextPageToken,prefixes,items(name,size,generation,updated)"


def open_source(settings: Mapping[str, Any], network: Network) -> ObjectStoreSource:
    """Open a bucket, or a folder in it, as a source.

    Raises HostError if the key of the service account or the endpoint URL is invalid.
    """
    endpoint = normalize_endpoint(str(settings.get("endpoint_url") or _ENDPOINT))
    bucket = quote(str(settings["bucket"]), safe="")
    get_token = _build_token_getter(str(settings["service_account"]))
    store = _Bucket(network, f"{endpoint}/storage/v1/b/{bucket}/o", get_token)
    return ObjectStoreSource(store, str(settings.get("prefix", "")))


def _build_token_getter(key: str) -> Callable[[], str]:
    """Return a function that returns valid tokens, signed with the JSON key of a service account.

    Raises HostError if the key is invalid.
    """
    try:
        fields = orjson.loads(key)
        account, key_id = str(fields["client_email"]), fields.get("private_key_id")
        private_key = load_key(str(fields["private_key"]), None)
    except (AttributeError, *KEY_ERRORS):
        raise _build_key_error() from None
    headers = {"kid": str(key_id)} if key_id else None
    sign = partial(_sign_token, account, private_key, headers)
    return cache_credential(sign, _TOKEN_SECONDS - _MIN_VALIDITY_SECONDS)


def _sign_token(account: str, key: PrivateKey, headers: dict[str, str] | None) -> str:
    now = int(time.time())
    claims = {
        "iss": account,
        "sub": account,
        "scope": _SCOPE,
        "iat": now,
        "exp": now + _TOKEN_SECONDS,
    }
    try:
        return jwt.encode(claims, key, algorithm="RS256", headers=headers)
    except Exception:  # noqa: BLE001 - the errors for damaged keys have no common base
        raise _build_key_error() from None


def _build_key_error() -> HostError:
    message = "`service_account` is not the JSON key of a service account."
    return HostError(HostErrorKind.CREDENTIALS_REFUSED, message)


class _Bucket(ObjectStore):
    """A bucket, whose listings are sorted by the bytes of the names."""

    def __init__(self, network: Network, address: str, get_token: Callable[[], str]) -> None:
        super().__init__(network, address)
        self._get_token = get_token

    def list_page(self, query: ListingQuery, token: str | None) -> ListingPage:
        page = super().list_page(query, token)
        # With `startOffset`, the listing includes the object with this name.
        return page._replace(
            objects=[
                stored_object for stored_object in page.objects if stored_object.key != query.after
            ]
        )

    def build_refusal_error(self, response: Response) -> HostError:
        return build_status_error(response.status_code, key="service account", container="bucket")

    def _build_parameters(self, query: ListingQuery, token: str | None) -> Parameters:
        return {
            "prefix": query.prefix,
            "maxResults": str(_PAGE_ITEMS),
            "fields": _FIELDS,
            "startOffset": query.after or None,
            "delimiter": "/" if query.by_folder else None,
            "pageToken": token,
        }

    def _parse_listing(self, body: bytes) -> ListingPage:
        # See https://cloud.google.com/storage/docs/json_api/v1/objects/list.
        check_part_count(body, b",")
        try:
            page = orjson.loads(body)
            return ListingPage(
                [_parse_object(item) for item in page.get("items") or ()],
                [prefix.encode() for prefix in page.get("prefixes") or ()],
                page.get("nextPageToken") or None,
            )
        except (AttributeError, KeyError, OverflowError, TypeError, ValueError):
            raise build_protocol_error() from None

    def _build_object_url(self, key: bytes) -> str:
        return f"{self._listing_url}/{quote_from_bytes(key, safe='')}?alt=media"

    def _sign(self, url: str) -> tuple[str, dict[str, str]]:
        # With `identity`, the host decompresses objects that are stored as gzip.
        return url, {"Authorization": f"Bearer {self._get_token()}", "Accept-Encoding": "identity"}


def _parse_object(item: dict[str, str]) -> StoredObject:
    modified_at = datetime.fromisoformat(item["updated"]).astimezone(UTC)
    version = str(int(item["generation"]))[:255]
    return StoredObject(item["name"].encode(), version, int(item["size"]), modified_at)
