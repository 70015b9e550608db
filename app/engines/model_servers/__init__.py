"""Request field values from a language model, and locate the values of its answer in the document.

The protocol is that of OpenAI's chat completions with structured output, which most model servers
support. All functions are pure; the caller sends the request.
"""

from app.engines.model_servers.alignment import align_values
from app.engines.model_servers.protocol import (
    MAX_TEXT_CHARS,
    Answer,
    InvalidAnswer,
    build_request,
    parse_answer,
)

__all__ = [
    "MAX_TEXT_CHARS",
    "Answer",
    "InvalidAnswer",
    "align_values",
    "build_request",
    "parse_answer",
]
