"""What the operator decides, asked for over the API or on the command line."""

from app.identity.control_plane.service.deciding import LIMITS, reinstate, set_plan, suspend
from app.identity.control_plane.service.provisioning import provision

__all__ = ["LIMITS", "provision", "reinstate", "set_plan", "suspend"]
