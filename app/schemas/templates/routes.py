"""Routes for schema templates."""

from typing import Any

from app.kit.api.blueprint import Blueprint, Listing
from app.kit.pagination import Page
from app.kit.principal import Caller
from app.schemas.artifact_schemas.models import ArtifactSchema
from app.schemas.artifact_schemas.schemas import SchemaDetail
from app.schemas.templates import service
from app.schemas.templates.catalog import Template
from app.schemas.templates.schemas import (
    InstantiateTemplate,
    SchemaTemplate,
    SchemaTemplateDetail,
    TemplateFilters,
)

blueprint = Blueprint(
    "schema-templates", description="Templates for schemas, by industry and document type."
)


@blueprint.get(
    "/schema-templates",
    access="user",
    allows_api_keys=True,
    query=Listing(sort_keys=("name", "id", "industry"), filters=TemplateFilters),
    returns=SchemaTemplate,
)
def list_schema_templates(caller: Caller, query: dict[str, Any]) -> Page:
    """List schema templates.

    Returns the templates. The list can be filtered by industry and document type. `q` searches the
    name and the document type.
    """
    return service.list_templates(**query)


@blueprint.get(
    "/schema-templates/{template_id}",
    access="user",
    allows_api_keys=True,
    returns=SchemaTemplateDetail,
    text_ids=("template_id",),
)
def get_schema_template(caller: Caller, template_id: str) -> Template:
    """Get a schema template.

    Returns the template with its fields and its labeling guidelines.
    """
    return service.get(template_id)


@blueprint.post(
    "/schema-templates/{template_id}/instantiate",
    permission="schemas:manage",
    body=InstantiateTemplate,
    returns=SchemaDetail,
    status=201,
    text_ids=("template_id",),
)
def instantiate_schema_template(
    caller: Caller, template_id: str, body: dict[str, Any]
) -> ArtifactSchema:
    """Create a schema from a template.

    Creates a draft with all fields of the template, or only with the fields whose keys are in
    `fields`.
    """
    return service.instantiate(template_id, created_by=caller.user_id, **body)
