"""Validate conditions on documents, compile them into closures, and explain their results.

from app.engines.conditions.attributes import DocumentAttributes
from app.engines.conditions.compiled_conditions import compile_conditions

compiled = compile_conditions({"all": [
    {"attribute": "name", "operator": "ends_with", "value": ".pdf"},
    {"any": [{"attribute": "metadata.vendor", "operator": "exists"}, ...]},
]})
document = DocumentAttributes({"name": "A.PDF"})
compiled.matches(document)    # True or False, as cheaply as possible
compiled.explain(document)    # the same result with the reasons
"""
