"""One module per family of values, each with `make(field)`; loaded when a field first needs it.

What a schema does not use is never imported: the libraries behind phone numbers, countries and
e-mail addresses cost memory in every process.
"""

import importlib
from typing import cast

from app.engines.fields.model import Field, Normaliser

_MODULES = {
    "text": "texts",
    "span": "texts",
    "region": "texts",
    "number": "quantities",
    "integer": "quantities",
    "money": "money",
    "currency": "currencies",
    "date": "moments",
    "time": "moments",
    "datetime": "moments",
    "boolean": "choices",
    "choice": "choices",
    "email": "emails",
    "phone": "phones",
    "url": "urls",
    "country": "countries",
    "address": "addresses",
    "table": "tables",
}


def normaliser(field: Field) -> Normaliser:
    """The function that brings a value of `field` into its canonical form.

    It raises ValueProblem, and returns what it once returned unchanged.
    """
    module = importlib.import_module(f"{__name__}.{_MODULES[field['type']]}")
    return cast("Normaliser", module.make(field))
