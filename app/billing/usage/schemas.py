"""Query and response schemas for usage."""

from app.billing.plans.catalog import MAX_QUANTITY
from app.billing.usage.service.reporting import WARNINGS
from app.kit.api.fields import Date, Int, List, Nested, OneOf, Response, Schema, Str
from app.kit.plan_limits import Meter
from app.kit.settings import PLANS

_METERS = tuple(map(str, Meter))


class UsagePeriod(Response):
    """A calendar month in UTC. `from` is inclusive, and `to` is exclusive."""

    from_ = Date(data_key="from", attribute="from")
    to = Date()


class MeterUsage(Response):
    """The usage and the limit of a meter. If `limit` is null, there is no limit."""

    meter = Str(validate=OneOf(_METERS))
    used = Int(maximum=MAX_QUANTITY)
    limit = Int(allow_none=True, maximum=MAX_QUANTITY)
    warning = Str(
        allow_none=True,
        validate=OneOf(tuple(name for name in WARNINGS.values() if name)),
        description=(
            "`near_limit` from 80% of the limit, `limit_reached` from 100%, and null below 80%."
        ),
    )


class Usage(Response):
    """The usage in the current month.

    Meters whose name ends with `_per_month` show the sum since the start of the month; other meters
    show the current level.
    """

    plan = Str(validate=OneOf(PLANS))
    period = Nested(UsagePeriod)
    meters = List(Nested(MeterUsage))


class UsageHistoryQuery(Schema):
    """Query parameters for the usage history. Days are in UTC; the default is the last 30 days."""

    first = Date(data_key="from", description="The first day of the usage history, inclusive.")
    end = Date(
        data_key="to",
        description="The end of the usage history, exclusive. The history has at most 366 days.",
    )
    meter = Str(validate=OneOf(_METERS))


class UsageDay(Response):
    """The usage of a meter at the end of a day, and the quantities added and removed on the day.

    For meters whose name ends with `_per_month`, `used` is the sum since the first day of the
    month.
    """

    day = Date()
    used = Int(maximum=MAX_QUANTITY)
    added = Int(maximum=MAX_QUANTITY)
    removed = Int(maximum=MAX_QUANTITY)


class MeterHistory(Response):
    """The daily usage of a meter, oldest day first; days in the future are omitted."""

    meter = Str(validate=OneOf(_METERS))
    days = List(Nested(UsageDay))


class UsageHistory(Response):
    """The usage of meters by day. `from` is inclusive, `to` is exclusive."""

    from_ = Date(data_key="from", attribute="from")
    to = Date()
    meters = List(Nested(MeterHistory))
