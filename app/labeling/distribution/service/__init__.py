"""How documents reach people: assigned to them, or drawn by them."""

from app.labeling.distribution.service.assigning import assign, bulk_assign
from app.labeling.distribution.service.drawing import claim_next

__all__ = ["assign", "bulk_assign", "claim_next"]
