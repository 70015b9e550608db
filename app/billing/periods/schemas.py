"""Request and response schemas for billing periods."""

from marshmallow import ValidationError

from app.billing.periods.service import MONTH_PATTERN, get_bounds
from app.kit.api.fields import Data, Int, Response, Schema, Str, UtcDateTime


class Month(Str):
    """A string field for a month in the form `YYYY-MM`."""

    def __init__(self, *, required: bool = False) -> None:
        metadata = {"pattern": f"^{MONTH_PATTERN}$", "example": "2026-10"}
        super().__init__(max_length=7, min_length=7, metadata=metadata, required=required)

    def _deserialize(self, value: object, attr: str | None, data: Data, **options: object) -> str:
        text = super()._deserialize(value, attr, data, **options)
        try:
            get_bounds(text)
        except ValueError:
            raise ValidationError(
                "Must be a month in the form YYYY-MM, for example 2026-10."
            ) from None
        return text


class ClosePeriod(Schema):
    """Request body for closing a month."""

    period = Month(required=True)


class BillingPeriod(Response):
    """A closed month. `from` is inclusive, and `to` is exclusive."""

    period = Str()
    from_ = UtcDateTime(data_key="from", attribute="from")
    to = UtcDateTime()
    organizations = Int(description="The number of organizations billed for the month.")
    closed_at = UtcDateTime()
