"""artifacts: who is to label what."""

from app.kit.api.blueprint import Blueprint

blueprint = Blueprint("distribution", tag="artifacts")
