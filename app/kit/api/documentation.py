"""The OpenAPI 3.1 description, made from the running application."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import flask_smorest
from flask import Flask
from marshmallow import Schema, fields

from app.kit import idempotency
from app.kit.api import components, documentation_pages, requests, routing
from app.kit.api import fields as kit_fields
from app.kit.api.alternatives import NEVER
from app.kit.api.blueprint import PREFIX, Blueprint
from app.kit.api.operation import Operation, RevisionRead

TITLE = "Labeling and Review Service"


@dataclass(frozen=True)
class Webhook:
    """A request that the service sends; `schema` is of its body, named `component`."""

    component: str
    description: str
    schema: Mapping[str, Any]
    headers: tuple[dict[str, Any], ...]


class ErrorBody(Schema):
    """What went wrong: a stable code, and a message for people."""

    code = fields.String(required=True)
    message = fields.String(required=True)
    field = fields.String()
    details = fields.Dict()


class ErrorResponse(Schema):
    """The body of every error."""

    error = fields.Nested(ErrorBody, required=True)


class Api(flask_smorest.Api):  # type: ignore[misc]
    """flask-smorest's Api, less its error handling, which `app.kit.api.http` does."""

    DEFAULT_ERROR_RESPONSE_NAME = None

    def _register_error_handlers(self) -> None:
        pass


def init(
    app: Flask, blueprints: list[Blueprint], webhooks: Mapping[str, Webhook], contact_url: str
) -> Api:
    """Register the rooms' routes on `app`, and describe them and the webhooks that it sends."""
    app.config.update(
        API_TITLE=TITLE,
        API_VERSION="v1",
        OPENAPI_VERSION="3.1.0",
        API_SPEC_OPTIONS={
            "info": {
                "description": "Label documents, review the labels, hand them on.",
                "contact": {"name": "The operator of this service", "url": contact_url},
                "license": {"name": "Proprietary", "identifier": "LicenseRef-Proprietary"},
            },
            "servers": [{"url": "/"}],
        },
    )
    api = Api(app, spec_kwargs={"marshmallow_plugin": components.plugin()})
    api.spec.components.security_scheme("HTTPBearer", {"type": "http", "scheme": "bearer"})
    api.spec.options["security"] = [{"HTTPBearer": []}]
    api.spec.components.schema("ErrorResponse", schema=ErrorResponse)
    api.spec.components.schema(RevisionRead.__name__, schema=RevisionRead)
    plugin = api.ma_plugin
    plugin.map_to_openapi_type(kit_fields.JsonObject, fields.Dict)
    api.register_field(kit_fields.UtcDateTime, "string", "date-time")
    paths = {f"{PREFIX}{op.path}" for op in operations(blueprints)}
    with routing.literals_before_parameters(app, paths):
        for blueprint in blueprints:
            api.register_blueprint(blueprint)
    _tag(api, blueprints)
    _complete(api, {op.name: op for op in operations(blueprints)})
    # flask-smorest registers what it would use itself; here nothing refers to it.
    for name in ("PaginationMetadataSchema", "ErrorSchema"):
        api.spec.components.schemas.pop(name, None)
    api.spec.components.responses.clear()
    components.tell_apart(api.spec._paths, api.spec.components.schemas)  # noqa: SLF001 - as above
    _describe_webhooks(api, webhooks)
    documentation_pages.init(app, TITLE, lambda: description(api))
    return api


def _tag(api: Api, blueprints: list[Blueprint]) -> None:
    """Each tag once: several features may share one, whose name the first bears."""
    lent = {blueprint.name for blueprint in blueprints if blueprint.tag != blueprint.name}
    tags = api.spec._tags  # noqa: SLF001 - apispec offers no public view
    tags[:] = [tag for tag in tags if tag["name"] not in lent]


def operations(blueprints: list[Blueprint]) -> list[Operation]:
    """Every declared operation."""
    return [operation for blueprint in blueprints for operation in blueprint.operations]


def _complete(api: Api, declared: dict[str, Operation]) -> None:
    """422 on each operation, and what the kit reads of a request beside its body and query."""
    error = {"$ref": "#/components/schemas/ErrorResponse"}
    refusal = {
        "description": "The request does not fit its declared schema.",
        "content": {"application/json": {"schema": error}},
    }
    for item in api.spec._paths.values():  # noqa: SLF001 - apispec offers no public view
        shared = item.pop("parameters", [])
        for found in item.values():
            op = declared[found["operationId"]]
            found["responses"]["422"] = refusal
            found["responses"].pop("default", None)
            own = [_told(op, p) for p in found.get("parameters", []) if p["in"] != "path"]
            path = [_typed(op, dict(p)) for p in shared]
            parameters = [*path, *own, *_headers(op)]
            if parameters:
                found["parameters"] = parameters
            if op.upload is not None:
                _offer_upload(api, op, found)
            if op.revision == "required" and op.body is not None:
                # If-Match will do instead, which the schema of a body cannot say.
                body = api.spec.components.schemas[type(op.body).__name__]
                body["required"] = [*body.get("required", []), "revision"]
            if op.revision and op.body is None and op.method != "DELETE":
                # A body of DELETE has no meaning to some clients: there the header does.
                found["requestBody"] = _REVISION


def _describe_webhooks(api: Api, webhooks: Mapping[str, Webhook]) -> None:
    described = {}
    for event, webhook in webhooks.items():
        api.spec.components.schema(webhook.component, dict(webhook.schema))
        reference = {"$ref": f"#/components/schemas/{webhook.component}"}
        described[event] = {
            "post": {
                "operationId": f"receive_{event.replace('.', '_')}",
                "summary": f"Receive {event}",
                "description": webhook.description,
                "tags": ["webhooks"],
                # The receiver checks the signature; it gives the service no credentials.
                "security": [],
                "parameters": list(webhook.headers),
                "requestBody": {
                    "required": True,
                    "content": {"application/json": {"schema": reference}},
                },
                "responses": {"2XX": {"description": "Received. Anything else is tried again."}},
            }
        }
    api.spec.options["webhooks"] = described


def _told(op: Operation, parameter: dict[str, Any]) -> dict[str, Any]:
    name = parameter["name"].replace("_", " ")
    text = f"Filter by {name}." if op.listing else f"The {name}."
    schema = components.without_null(parameter["schema"])
    return {"description": _COMMON.get(parameter["name"], text), **parameter, "schema": schema}


_COMMON = {
    "cursor": "Where to go on: `next_cursor` or `prev_cursor` of another page of the same list.",
    "page_size": "How many records a page holds at most.",
    "sort": "The key to sort by; a leading minus sorts downwards.",
    "q": "Words to search for.",
    "created_after": "Only those created at or after this time.",
    "created_before": "Only those created before this time.",
}


_REVISION = {
    "description": "The revision that was read, if not by If-Match.",
    "required": False,
    "content": {"application/json": {"schema": {"$ref": "#/components/schemas/RevisionRead"}}},
}


def _typed(op: Operation, parameter: dict[str, Any]) -> dict[str, Any]:
    name = parameter["name"]
    schema: dict[str, Any] = {"type": "string", "format": "uuid"}
    if name in op.numbers:
        schema = {"type": "integer", "format": "int32", "minimum": 1, "maximum": 999_999_999}
    elif name == "org_slug" or name in op.text_ids:
        schema = {"type": "string"}
    what = name.removesuffix("_id").replace("_", " ")
    return {**parameter, "schema": schema, "description": f"Which {what}."}


def header(name: str, text: str, *, required: bool = False, **limits: Any) -> dict[str, Any]:
    """Return a header as a parameter; `limits` are keywords of its schema."""
    return {
        "in": "header",
        "name": name,
        "description": text,
        "required": required,
        "schema": {"type": "string", **limits},
    }


_IDEMPOTENCY_KEY: dict[str, Any] = {
    "minLength": 1,
    "maxLength": idempotency.MAX_LENGTH,
    "pattern": idempotency.PATTERN,
}


def _headers(op: Operation) -> list[dict[str, Any]]:
    found = []
    if op.in_organization and "{org_slug}" not in op.path:
        # Not required: a key names its organization itself.
        found.append(header("X-Org-Slug", "The organization to work in."))
    if op.revision:
        text = "The revision that was read, in quotes."
        found.append(header("If-Match", text, pattern=requests.IF_MATCH_PATTERN))
    if op.creates:
        text = "The same key within 24 hours creates once."
        found.append(header(idempotency.HEADER, text, **_IDEMPOTENCY_KEY))
    return found


def _offer_upload(api: Api, op: Operation, found: dict[str, Any]) -> None:
    """Describe the form before the JSON: most generators of clients take the first one only."""
    assert op.upload is not None
    schema = api.ma_plugin.converter.schema2jsonschema(op.upload)
    members = {name: components.without_null(m) for name, m in schema["properties"].items()}
    schema["properties"] = {"file": {"type": "string", "format": "binary"}, **members}
    others = list(op.upload.instead_of_file)
    file_only = {"required": ["file"], "properties": {others[0]: NEVER}}
    no_file = {"required": others, "properties": {"file": NEVER}}
    schema["allOf"] = [{"oneOf": [file_only, no_file]}]
    schema["description"] = (type(op.upload).__doc__ or "").strip()
    name = type(op.upload).__name__
    api.spec.components.schema(name, schema)
    form = {"schema": {"$ref": f"#/components/schemas/{name}"}}
    content = found["requestBody"]["content"]
    found["requestBody"]["content"] = {"multipart/form-data": form, **content}


def description(api: Api) -> dict[str, Any]:
    """Return the API description as a dict."""
    spec: dict[str, Any] = api.spec.to_dict()
    return spec
