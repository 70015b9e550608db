"""Normalize field values.

Each module handles one or more field types, and defines `build_normalizer(field)`.

A module is loaded when a field first needs it. Otherwise, the libraries for phone numbers,
countries and email addresses would use memory in every process.
"""

import importlib
from typing import cast

from app.engines.fields.model import Field, Normalizer

_MODULE_BY_TYPE = {
    "text": "texts",
    "span": "texts",
    "region": "texts",
    "number": "quantities",
    "integer": "quantities",
    "money": "money",
    "currency": "currencies",
    "date": "times",
    "time": "times",
    "datetime": "times",
    "boolean": "choices",
    "choice": "choices",
    "email": "emails",
    "phone": "phones",
    "url": "urls",
    "country": "countries",
    "address": "addresses",
    "table": "tables",
}


def get_normalizer(field: Field) -> Normalizer:
    """Return the function that converts a value of `field` to its canonical form.

    The function is idempotent. It raises ValueProblem for an invalid value.
    """
    module = importlib.import_module(f"{__name__}.{_MODULE_BY_TYPE[field['type']]}")
    return cast("Normalizer", module.build_normalizer(field))
