"""The meters whose use a plan can limit."""

from enum import StrEnum


class Meter(StrEnum):
    """What is metered. The values are the names in plans, in the API and in the database."""

    MEMBERS = "members"
    DOCUMENTS = "documents_per_month"
    STORED_BYTES = "stored_bytes"
    ACTIVE_SCHEMAS = "active_schemas"
    CONNECTORS = "connectors"
    WEBHOOKS = "webhooks"
    AI_PAGES = "ai_pages_per_month"

    @property
    def is_monthly(self) -> bool:
        """Whether the meter counts what happens in a month; the others are levels."""
        return self in (Meter.DOCUMENTS, Meter.AI_PAGES)
