"""How documents reach people: assigned to them, or drawn by them."""

from app.workflow.assignment.service.assigning import assign, bulk_assign
from app.workflow.assignment.service.drawing import claim_next

__all__ = ["assign", "bulk_assign", "claim_next"]
