"""schema-templates: industry templates to start a schema from."""

from app.kit.api.blueprint import Blueprint

blueprint = Blueprint("schema-templates", description="Industry templates to start a schema from.")
