"""tag-sets: the discussion of a label set."""

from app.kit.api.blueprint import Blueprint

blueprint = Blueprint("comments", tag="tag-sets")
