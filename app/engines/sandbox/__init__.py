"""Run functions on untrusted bytes, each call in a separate confined process.

A fork server imports the libraries once and forks a process per call. The process is confined
before it reads a byte of the document, sends its results through a pipe, and exits. See
docs/contributors/documents.md and docs/decisions/0034.
"""

from app.engines.sandbox.client import ForkServer
from app.engines.sandbox.model import (
    DONE,
    FailureReason,
    ProcessFailed,
    ProcessLimits,
    SandboxUnavailable,
    Send,
)
from app.engines.sandbox.process import SandboxedProcess

__all__ = [
    "DONE",
    "FailureReason",
    "ForkServer",
    "ProcessFailed",
    "ProcessLimits",
    "SandboxUnavailable",
    "SandboxedProcess",
    "Send",
]
