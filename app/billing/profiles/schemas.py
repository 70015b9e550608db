"""Request and response schemas for billing profiles."""

from marshmallow.validate import Length

from app.engines.invoices.texts import LANGUAGES
from app.kit.api.fields import Int, List, Name, Nested, OneOf, Response, Schema, Str, UtcDateTime

_COUNTRY = "ISO 3166-1 country code, for example AT."
_CURRENCY = (
    "ISO 4217 currency code. If the plan or the scheduled plan has a price, this must be the"
    " currency of that plan."
)
_TIME_ZONE = "IANA time zone for the dates on invoices."
_TAX_NUMBER = (
    "Value added tax (VAT) number of a company, from the country of the address. Reverse charge"
    " applies if the buyer and the seller are in different countries of the European Union."
)


class SetBillingAddress(Schema):
    """A postal address in a request."""

    lines = List(
        Name(max_length=100),
        required=True,
        max_items=3,
        validate=Length(min=1),
        description="The address lines, for example the street and house number.",
    )
    postal_code = Name(max_length=20, allow_none=True, load_default=None)
    city = Name(required=True, max_length=100)
    country = Str(required=True, min_length=2, max_length=2, description=_COUNTRY)


class SetBillingProfile(Schema):
    """Request body for replacing the billing profile."""

    name = Name(required=True, description="Name of the company or person.")
    address = Nested(SetBillingAddress, required=True)
    tax_number = Name(max_length=40, allow_none=True, load_default=None, description=_TAX_NUMBER)
    email = Str(required=True, max_length=320)
    currency = Str(required=True, min_length=3, max_length=3, description=_CURRENCY)
    time_zone = Str(max_length=64, load_default="UTC", description=_TIME_ZONE)
    language = Str(validate=OneOf(LANGUAGES), load_default=LANGUAGES[0])
    revision = Int()


class BillingAddress(Response):
    """A postal address."""

    lines = List(Str())
    postal_code = Str(allow_none=True)
    city = Str()
    country = Str(description=_COUNTRY)


class BillingProfile(Response):
    """The billing profile. Until it is set, `revision` is 0, and `name` and `address` are null."""

    name = Str(allow_none=True)
    address = Nested(BillingAddress, allow_none=True)
    tax_number = Str(allow_none=True, description=_TAX_NUMBER)
    email = Str(allow_none=True)
    currency = Str(description=_CURRENCY)
    time_zone = Str(description=_TIME_ZONE)
    language = Str(validate=OneOf(LANGUAGES))
    created_at = UtcDateTime(allow_none=True)
    updated_at = UtcDateTime(allow_none=True)
    revision = Int()
