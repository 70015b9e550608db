"""routing-rules: which work goes to whom."""

from app.kit.api.blueprint import Blueprint

blueprint = Blueprint("routing-rules", description="Rules that give work to teams and people.")
