"""Validate conditions on documents, compile them into closures, and explain their results.

compiled = compile_conditions({"all": [
    {"attribute": "name", "operator": "ends_with", "value": ".pdf"},
    {"any": [{"attribute": "metadata.vendor", "operator": "exists"}, ...]},
]})
document = DocumentAttributes({"name": "A.PDF"})
compiled.matches(document)    # True or False, as cheaply as possible
compiled.explain(document)    # the same result with the reasons
"""

from app.engines.conditions.attributes import (
    ATTRIBUTES,
    MAX_TEXT,
    METADATA_PREFIX,
    OPERATORS,
    DocumentAttributes,
)
from app.engines.conditions.compiled import (
    MAX_CONDITIONS,
    CompiledConditions,
    compile_conditions,
    count_patterns,
)
from app.engines.conditions.operators import MAX_PATTERN_BYTES, ConditionError
from app.engines.conditions.time_limits import EvaluationTimeout, TimeLimit

__all__ = [
    "ATTRIBUTES",
    "MAX_CONDITIONS",
    "MAX_PATTERN_BYTES",
    "MAX_TEXT",
    "METADATA_PREFIX",
    "OPERATORS",
    "CompiledConditions",
    "ConditionError",
    "DocumentAttributes",
    "EvaluationTimeout",
    "TimeLimit",
    "compile_conditions",
    "count_patterns",
]
