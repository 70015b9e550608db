"""Run functions on untrusted bytes, with a separate confined process for each call.

A fork server imports the libraries once, and forks a process for each call. The process is confined
before it reads a byte of the document. It sends its results through a pipe, and exits. See
docs/contributors/documents.md and docs/decisions/0034.
"""

from app.engines.sandbox.client import ForkServer
from app.engines.sandbox.model import (
    DONE,
    ProcessFailed,
    ProcessLimits,
    SandboxUnavailable,
    Send,
)
from app.engines.sandbox.process import SandboxedProcess

__all__ = [
    "DONE",
    "ForkServer",
    "ProcessFailed",
    "ProcessLimits",
    "SandboxUnavailable",
    "SandboxedProcess",
    "Send",
]
