"""The OpenAPI 3.1 description, generated from the declared operations."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import flask_smorest
from flask import Flask, Response
from marshmallow import Schema, fields
from werkzeug.exceptions import HTTPException

from app.kit import idempotency
from app.kit.api import components, documentation_pages, http, requests, routing
from app.kit.api import fields as kit_fields
from app.kit.api.alternatives import NEVER
from app.kit.api.blueprint import API_PREFIX, Blueprint
from app.kit.api.declarations import Operation
from app.kit.api.requests import RevisionRead

TITLE = "Labeling and Review Service"


@dataclass(frozen=True)
class Webhook:
    """A webhook request that the service sends.

    Its body matches `schema`, which becomes the OpenAPI component named `component_name`.
    """

    component_name: str
    description: str
    schema: Mapping[str, Any]
    headers: tuple[dict[str, Any], ...]


class ErrorBody(Schema):
    """An error with a stable code and a human-readable message."""

    code = fields.String(required=True)
    message = fields.String(required=True)
    field = fields.String(metadata={"description": "The invalid field, parameter or header."})
    details = fields.Dict(metadata={"description": "Properties that depend on the code."})


class ErrorResponse(Schema):
    """The body of every error response."""

    error = fields.Nested(ErrorBody, required=True)


class Api(flask_smorest.Api):  # type: ignore[misc]
    """flask-smorest's Api with the error responses of this service."""

    DEFAULT_ERROR_RESPONSE_NAME = None

    def handle_http_exception(self, error: HTTPException) -> Response:
        """Return the error response for an exception of Flask or Werkzeug."""
        return http.handle_http_error(error)


def init(
    app: Flask, blueprints: list[Blueprint], webhooks: Mapping[str, Webhook], contact_url: str
) -> Api:
    """Register all routes and the documentation pages on `app`, and return the `Api` object."""
    app.config.update(
        API_TITLE=TITLE,
        API_VERSION="v1",
        OPENAPI_VERSION="3.1.0",
        API_SPEC_OPTIONS={
            "info": {
                "description": "Label documents, review the tag sets, and export them.",
                "contact": {"name": "The operator of this service", "url": contact_url},
                "license": {"name": "Proprietary", "identifier": "LicenseRef-Proprietary"},
            },
            "servers": [{"url": "/"}],
        },
    )
    api = Api(app, spec_kwargs={"marshmallow_plugin": components.build_plugin()})
    api.spec.components.security_scheme("HTTPBearer", {"type": "http", "scheme": "bearer"})
    api.spec.options["security"] = [{"HTTPBearer": []}]
    api.spec.components.schema("ErrorResponse", schema=ErrorResponse)
    api.spec.components.schema(RevisionRead.__name__, schema=RevisionRead)
    plugin = api.ma_plugin
    plugin.map_to_openapi_type(kit_fields.JsonObject, fields.Dict)
    api.register_field(kit_fields.UtcDateTime, "string", "date-time")
    url_paths = {f"{API_PREFIX}{op.path}" for op in list_operations(blueprints)}
    with routing.prefer_literals(app, url_paths):
        for blueprint in blueprints:
            api.register_blueprint(blueprint)
    _remove_unused_tags(api, blueprints)
    _complete_operations(api, {op.name: op for op in list_operations(blueprints)})
    # flask-smorest registers components for its features that this service does not use.
    for name in ("PaginationMetadataSchema", "ErrorSchema"):
        api.spec.components.schemas.pop(name, None)
    api.spec.components.responses.clear()
    paths = api.spec._paths  # noqa: SLF001 - apispec has no public accessor
    components.finish_components(paths, api.spec.components.schemas)
    _describe_webhooks(api, webhooks)
    documentation_pages.init(app, TITLE, api.spec.to_dict)
    return api


def _remove_unused_tags(api: Api, blueprints: list[Blueprint]) -> None:
    """Remove the tags of blueprints that use the tag of another blueprint."""
    unused_names = {blueprint.name for blueprint in blueprints if blueprint.tag != blueprint.name}
    tags = api.spec._tags  # noqa: SLF001 - apispec has no public accessor
    tags[:] = [tag for tag in tags if tag["name"] not in unused_names]


def list_operations(blueprints: list[Blueprint]) -> list[Operation]:
    """Return the operations that the blueprints declare."""
    return [operation for blueprint in blueprints for operation in blueprint.operations]


def _complete_operations(api: Api, operations_by_name: dict[str, Operation]) -> None:
    """Add the 422 response and the common headers, parameters and bodies to each operation."""
    error = {"$ref": "#/components/schemas/ErrorResponse"}
    error_response = {
        "description": "The request does not match its schema.",
        "content": {"application/json": {"schema": error}},
    }
    for item in api.spec._paths.values():  # noqa: SLF001 - apispec has no public accessor
        shared_parameters = item.pop("parameters", [])
        for operation in item.values():
            op = operations_by_name[operation["operationId"]]
            operation["responses"]["422"] = error_response
            operation["responses"].pop("default", None)
            own_parameters = operation.get("parameters", [])
            parameters = [
                *(_describe_path_parameter(op, dict(p)) for p in shared_parameters),
                *(_describe_parameter(op, p) for p in own_parameters if p["in"] != "path"),
                *_list_headers(op),
            ]
            if parameters:
                operation["parameters"] = parameters
            if op.upload is not None:
                _describe_upload(api, op, operation)
            if op.revision == "required" and op.body is not None:
                # Clients may send If-Match instead, which the schema of a body cannot express.
                body = api.spec.components.schemas[type(op.body).__name__]
                body["required"] = [*body.get("required", []), "revision"]
            if op.revision and op.body is None and op.method != "DELETE":
                # Some clients send no body with DELETE; they use the header.
                operation["requestBody"] = _REVISION_BODY


def _describe_webhooks(api: Api, webhooks: Mapping[str, Webhook]) -> None:
    descriptions = {}
    for event, webhook in webhooks.items():
        api.spec.components.schema(webhook.component_name, dict(webhook.schema))
        reference = {"$ref": f"#/components/schemas/{webhook.component_name}"}
        descriptions[event] = {
            "post": {
                "operationId": f"receive_{event.replace('.', '_')}",
                "summary": f"Receive {event}",
                "description": webhook.description,
                "tags": ["webhooks"],
                # The receiver verifies the signature; the service sends no credentials.
                "security": [],
                "parameters": list(webhook.headers),
                "requestBody": {
                    "required": True,
                    "content": {"application/json": {"schema": reference}},
                },
                "responses": {"2XX": {"description": _WEBHOOK_RESPONSE}},
            }
        }
    api.spec.options["webhooks"] = descriptions


def _describe_parameter(op: Operation, parameter: dict[str, Any]) -> dict[str, Any]:
    name = parameter["name"].replace("_", " ")
    text = f"Filter by {name}." if op.listing else f"The {name}."
    schema = components.remove_null(parameter["schema"])
    return {
        "description": _COMMON_DESCRIPTIONS.get(parameter["name"], text),
        **parameter,
        "schema": schema,
    }


_WEBHOOK_RESPONSE = "Received. After any other status, the request is sent again up to three times."

_COMMON_DESCRIPTIONS = {
    "cursor": "The `next_cursor` or `prev_cursor` from another page of the same list.",
    "page_size": "The maximum number of records on a page.",
    "sort": "The sort key; a leading minus sorts in descending order.",
    "q": "Words to search for.",
    "created_after": "Only records created at or after this time.",
    "created_before": "Only records created before this time.",
}


_REVISION_BODY = {
    "description": "The revision that the change is based on, if not sent in If-Match.",
    "required": False,
    "content": {"application/json": {"schema": {"$ref": "#/components/schemas/RevisionRead"}}},
}


def _describe_path_parameter(op: Operation, parameter: dict[str, Any]) -> dict[str, Any]:
    name = parameter["name"]
    schema: dict[str, Any] = {"type": "string", "format": "uuid"}
    if name in op.integer_parameters:
        schema = {"type": "integer", "format": "int32", "minimum": 1, "maximum": 999_999_999}
    elif name == "org_slug" or name in op.text_ids:
        schema = {"type": "string"}
    text = "The " + name.replace("org_", "organization_").replace("_", " ").removesuffix(" id")
    text += " id." if name.endswith("_id") else "."
    return {**parameter, "schema": schema, "description": text}


def describe_header(
    name: str, text: str, *, required: bool = False, **keywords: object
) -> dict[str, Any]:
    """Return the OpenAPI description of a header. `keywords` are added to its JSON Schema."""
    return {
        "in": "header",
        "name": name,
        "description": text,
        "required": required,
        "schema": {"type": "string", **keywords},
    }


_IDEMPOTENCY_KEY_SCHEMA: dict[str, Any] = {
    "minLength": 1,
    "maxLength": idempotency.MAX_LENGTH,
    "pattern": idempotency.PATTERN,
}


def _list_headers(op: Operation) -> list[dict[str, Any]]:
    headers = []
    if op.in_organization and "{org_slug}" not in op.path:
        text = (
            "The slug of the organization. Optional with an API key, because each key belongs to"
            " one organization."
        )
        headers.append(describe_header("X-Org-Slug", text))
    if op.revision:
        text = "The revision that the change is based on, in quotes."
        headers.append(describe_header("If-Match", text, pattern=requests.IF_MATCH_PATTERN))
    if op.supports_idempotency_key:
        text = "A request that is repeated with this key within 24 hours is carried out only once."
        headers.append(describe_header(idempotency.HEADER, text, **_IDEMPOTENCY_KEY_SCHEMA))
    return headers


def _describe_upload(api: Api, op: Operation, operation: dict[str, Any]) -> None:
    """Describe the multipart form as the first media type of the request body.

    Most client generators use only the first media type.
    """
    assert op.upload is not None
    schema = api.ma_plugin.converter.schema2jsonschema(op.upload)
    properties = {
        name: components.remove_null(property_schema)
        for name, property_schema in schema["properties"].items()
    }
    schema["properties"] = {"file": {"type": "string", "format": "binary"}, **properties}
    alternative_names = list(op.upload.instead_of_file)
    file_only = {"required": ["file"], "properties": {alternative_names[0]: NEVER}}
    no_file = {"required": alternative_names, "properties": {"file": NEVER}}
    schema["allOf"] = [{"oneOf": [file_only, no_file]}]
    schema["description"] = (type(op.upload).__doc__ or "").strip()
    name = type(op.upload).__name__
    api.spec.components.schema(name, schema)
    form = {"schema": {"$ref": f"#/components/schemas/{name}"}}
    content = operation["requestBody"]["content"]
    operation["requestBody"]["content"] = {"multipart/form-data": form, **content}
