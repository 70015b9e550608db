"""The OpenAPI 3.1 description, made from the running application, and its two readers' pages."""

import hashlib
from importlib.resources import files
from typing import Any

import flask_smorest
import orjson
from flask import Blueprint as FlaskBlueprint
from flask import Flask, Response, request
from marshmallow import Schema, fields
from werkzeug.exceptions import NotFound

from app.kit.api import components
from app.kit.api import fields as kit_fields
from app.kit.api.blueprint import Blueprint
from app.kit.api.operation import Operation, RevisionRead

TITLE = "Labeling and Review Service"
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:; font-src 'self' data:; connect-src 'self'; worker-src 'self' blob:; "
    "frame-ancestors 'none'; base-uri 'none'"
)


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


def init(app: Flask, blueprints: list[Blueprint]) -> Api:
    """Register the rooms' routes on `app`, and describe them."""
    app.config.update(
        API_TITLE=TITLE,
        API_VERSION="v1",
        OPENAPI_VERSION="3.1.0",
        API_SPEC_OPTIONS={
            "info": {
                "description": "Label documents, review the labels, hand them on.",
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
    for blueprint in blueprints:
        api.register_blueprint(blueprint)
    _tag(api, blueprints)
    _complete(api, {op.name: op for op in operations(blueprints)})
    # flask-smorest registers what it would use itself; here nothing refers to it.
    for name in ("PaginationMetadataSchema", "ErrorSchema"):
        api.spec.components.schemas.pop(name, None)
    api.spec.components.responses.clear()
    components.tell_apart(api.spec._paths, api.spec.components.schemas)  # noqa: SLF001 - as above
    _serve(app, api)
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
            if op.revision and op.body is None and op.method != "DELETE":
                # A body of DELETE has no meaning to some clients: there the header does.
                found["requestBody"] = _REVISION


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
        schema = {"type": "integer", "minimum": 1}
    elif name == "org_slug" or name in op.text_ids:
        schema = {"type": "string"}
    what = name.removesuffix("_id").replace("_", " ")
    return {**parameter, "schema": schema, "description": f"Which {what}."}


def _header(name: str, text: str, *, required: bool = False) -> dict[str, Any]:
    schema = {"type": "string"}
    return {
        "in": "header",
        "name": name,
        "description": text,
        "required": required,
        "schema": schema,
    }


def _headers(op: Operation) -> list[dict[str, Any]]:
    found = []
    if op.in_organization and "{org_slug}" not in op.path:
        # Not required: a key names its organization itself.
        found.append(_header("X-Org-Slug", "The organization to work in."))
    if op.revision:
        found.append(_header("If-Match", "The revision that was read, in quotes."))
    if op.creates:
        found.append(_header("Idempotency-Key", "The same key within 24 hours creates once."))
    return found


def _offer_upload(api: Api, op: Operation, found: dict[str, Any]) -> None:
    assert op.upload is not None
    schema = api.ma_plugin.converter.schema2jsonschema(op.upload)
    members = {name: components.without_null(m) for name, m in schema["properties"].items()}
    schema["properties"] = {"file": {"type": "string", "format": "binary"}, **members}
    schema["required"] = ["file", *schema.get("required", [])]
    name = type(op.upload).__name__
    api.spec.components.schema(name, schema)
    form = {"schema": {"$ref": f"#/components/schemas/{name}"}}
    found["requestBody"]["content"]["multipart/form-data"] = form


def description(api: Api) -> dict[str, Any]:
    """The description as a dict."""
    spec: dict[str, Any] = api.spec.to_dict()
    return spec


def _serve(app: Flask, api: Api) -> None:
    pages = FlaskBlueprint("documentation", __name__)
    made: dict[str, Any] = {}

    @pages.get("/openapi.json")
    def openapi() -> Response:
        if not made:
            made["body"] = orjson.dumps(description(api))
            made["etag"] = hashlib.sha256(made["body"]).hexdigest()[:32]
        response = Response(made["body"], mimetype="application/json")
        response.set_etag(made["etag"])
        response.headers["Cache-Control"] = "no-cache"
        response.make_conditional(request)
        return response

    @pages.get("/docs")
    def docs() -> Response:
        return _page(_SWAGGER)

    @pages.get("/redoc")
    def redoc() -> Response:
        return _page(_REDOC)

    @pages.get("/docs/assets/<name>")
    def asset(name: str) -> Response:
        return _asset(name)

    app.register_blueprint(pages)


def _page(html: str) -> Response:
    response = Response(html, mimetype="text/html")
    response.headers["Content-Security-Policy"] = _POLICY
    return response


_ASSETS = {
    "swagger-ui.css": ("flask_swagger_ui", "dist/swagger-ui.css", "text/css"),
    "swagger-ui-bundle.js": ("flask_swagger_ui", "dist/swagger-ui-bundle.js", "text/javascript"),
    "redoc.standalone.js": (
        "flask_openapi3_redoc",
        "templates/redoc/js/redoc.standalone.js",
        "text/javascript",
    ),
}
_INIT = (
    'window.ui = SwaggerUIBundle({url: "/openapi.json", dom_id: "#ui", deepLinking: true, '
    "validatorUrl: null, persistAuthorization: false});"
)
_SWAGGER = f"""<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{TITLE}</title>
<link rel="stylesheet" href="/docs/assets/swagger-ui.css"></head><body><div id="ui"></div>
<script src="/docs/assets/swagger-ui-bundle.js"></script>
<script src="/docs/assets/init.js"></script></body></html>"""
_REDOC = f"""<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{TITLE}</title>
<meta name="viewport" content="width=device-width, initial-scale=1"></head>
<body><redoc spec-url="/openapi.json" disable-search="false"></redoc>
<script src="/docs/assets/redoc.standalone.js"></script></body></html>"""


def _asset(name: str) -> Response:
    if name == "init.js":
        return Response(_INIT, mimetype="text/javascript")
    if name not in _ASSETS:
        raise NotFound
    package, path, media_type = _ASSETS[name]
    response = Response((files(package) / path).read_bytes(), mimetype=media_type)
    response.headers["Cache-Control"] = "public, max-age=86400"
    return response
