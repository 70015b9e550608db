"""Calls of the tests' entry functions, and how they fail."""

import json
import os
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from app.engines.sandbox.client import ForkServer
from app.engines.sandbox.model import ProcessFailed, ProcessLimits
from app.engines.sandbox.process import SandboxedProcess

ENTRIES = "tests.engines.sandbox.entries"
KINDS = (b"A", b"T")
NOTHING = Path(os.devnull)
LIMITS = ProcessLimits(
    memory_bytes=1 << 30, cpu_seconds=60, wall_seconds=120.0, frame_bytes=64 << 20
)


class Calls:
    """Calls on one server."""

    def __init__(self, server: ForkServer) -> None:
        self.server = server

    def open(
        self,
        entry: str,
        *,
        stack: ExitStack,
        document: Path = NOTHING,
        limits: ProcessLimits = LIMITS,
        **arguments: Any,
    ) -> SandboxedProcess:
        """Start a call that ends with `stack`."""
        file = stack.enter_context(document.open("rb"))
        name = f"{ENTRIES}:{entry}"
        process = self.server.run(name, document=file, arguments=arguments, limits=limits)
        return stack.enter_context(process)

    def run(self, entry: str, **options: Any) -> list[tuple[bytes, bytes]]:
        """Return all frames of a call."""
        with ExitStack() as stack:
            return list(self.open(entry, stack=stack, **options).iterate_frames(KINDS))

    def fail(self, how: str, **options: Any) -> ProcessFailed:
        """Return the failure of a process that misbehaves."""
        with pytest.raises(ProcessFailed) as caught:
            self.run("misbehave", how=how, **options)
        return caught.value

    def probe(self, **arguments: Any) -> dict[str, Any]:
        """Return what a process can see and do."""
        defaults = {"path": "/nowhere/file", "port": 9, "caller": 1}
        ((_, payload),) = self.run("probe", **{**defaults, **arguments})
        return dict(json.loads(payload))
