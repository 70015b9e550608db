"""API routes for API keys."""

from typing import Any
from uuid import UUID

from app.identity.api_keys import queries, service
from app.identity.api_keys.schemas import ApiKey, ApiKeyWithSecret, CreateApiKey
from app.kit.api.blueprint import Blueprint, Listing
from app.kit.pagination import Page
from app.kit.principal import Caller

blueprint = Blueprint("api_keys", tag="organizations")
_PERMISSION = "api_keys:manage"


@blueprint.get(
    "/organizations/{org_slug}/api-keys",
    permission=_PERMISSION,
    query=Listing(sort_keys=("-created_at", "name"), has_period=True),
    returns=ApiKey,
)
def list_api_keys(caller: Caller, query: dict[str, Any]) -> Page:
    """List API keys.

    Returns the organization's API keys, including expired keys, each with its creator. Only the
    prefix of each key is returned, not the complete key.
    """
    return queries.get_page(**query)


@blueprint.post(
    "/organizations/{org_slug}/api-keys",
    permission=_PERMISSION,
    body=CreateApiKey,
    returns=ApiKeyWithSecret,
    status=201,
    # A leaked key must not be able to create or revoke keys.
    allows_api_keys=False,
)
def create_api_key(caller: Caller, body: dict[str, Any]) -> object:
    """Create an API key.

    Only this response contains the complete key. The key's role must not be `owner`, and must not
    be above the caller's role.
    """
    return service.create(caller, **body)


@blueprint.delete(
    "/organizations/{org_slug}/api-keys/{key_id}", permission=_PERMISSION, allows_api_keys=False
)
def revoke_api_key(caller: Caller, key_id: UUID) -> None:
    """Revoke an API key.

    Deletes the key. The next request with the key is refused.
    """
    service.revoke(key_id)
