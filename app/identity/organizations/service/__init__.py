"""Organizations: made, read, changed, closed. What other features call is here."""

from app.identity.organizations.service.creating import create
from app.identity.organizations.service.reading import list_of_caller, of_user

__all__ = ["create", "list_of_caller", "of_user"]
