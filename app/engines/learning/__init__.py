"""Train and evaluate extraction models in a child process with limits.

The child has one thread, and limited memory, processor time and wall-clock time. It is killed when
its parent exits. Examples are sent one by one, so the parent never has all examples in memory.
"""

import os
import signal
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from threading import Timer
from typing import IO, Any, NamedTuple, cast

import orjson

from app.engines import interpreter
from app.engines.extraction.model import Example
from app.engines.fields import Field
from app.engines.learning.messages import encode_example, read_frame, write_frame

_MIB = 2**20


@dataclass(frozen=True, slots=True)
class LearningLimits:
    """The limits for a child process: bytes of data, processor seconds, and wall-clock seconds."""

    memory_bytes: int = 1024 * _MIB
    cpu_seconds: int = 300
    wall_seconds: float = 1_200.0


TRAINING_LIMITS = LearningLimits()


class LearningFailed(Exception):  # noqa: N818 - named after the outcome
    """The training failed for the reason in `code`.

    The child process returned an error or no result (`not_enough_examples`, `out_of_memory`,
    `timed_out` or `crashed`), or the caller gave up (with a code of its own).
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(code, message)
        self.code, self.message = code, message


class LearningInterrupted(Exception):  # noqa: N818 - named after the outcome
    """SIGKILL, SIGTERM or SIGINT ended the child process, so a second attempt may succeed."""


class TrainingResult(NamedTuple):
    """A trained model as bytes, with its evaluation report.

    `is_no_worse` is true if the model is not worse than the previous model, if there is no
    previous model, or if the previous model cannot be loaded.
    """

    version: str
    content: bytes
    report: dict[str, Any]
    is_no_worse: bool


def train_in_child(
    examples: Iterable[Example],
    fields: Sequence[Field],
    *,
    schema_version: str,
    previous_model: bytes | None = None,
    limits: LearningLimits = TRAINING_LIMITS,
) -> TrainingResult:
    """Train a model in a child process, and compare it with `previous_model`, a serialized model.

    The caller must have verified the message authentication code of `previous_model`, because the
    child parses it. Raises LearningFailed if the child returned no model, and LearningInterrupted
    if a signal interrupted the child.
    """
    task = {"task": "train", "fields": list(fields), "schema_version": schema_version}
    header, content = _run_child(task, previous_model, examples, limits)
    return TrainingResult(header["version"], content, header["report"], header["is_better"])


def evaluate_in_child(
    examples: Iterable[Example],
    fields: Sequence[Field],
    *,
    folds: int,
    limits: LearningLimits = TRAINING_LIMITS,
) -> dict[str, Any]:
    """Evaluate extraction by cross-validation in a child process, and return the report.

    `folds` is the number of folds. The child's time limits are the time limits of `limits`,
    multiplied by `folds`. Raises LearningFailed if the child returned no report, and
    LearningInterrupted if a signal interrupted the child.
    """
    task = {"task": "evaluate", "fields": list(fields), "folds": folds}
    time_limits = replace(
        limits,
        cpu_seconds=limits.cpu_seconds * folds,
        wall_seconds=limits.wall_seconds * folds,
    )
    header, _ = _run_child(task, None, examples, time_limits)
    report: dict[str, Any] = header["report"]
    return report


def _run_child(
    task: Mapping[str, object],
    previous_model: bytes | None,
    examples: Iterable[Example],
    limits: LearningLimits,
) -> tuple[dict[str, Any], bytes]:
    task_payload = orjson.dumps({**task, "limits": asdict(limits), "parent": os.getpid()})
    with _start_child() as child:
        is_timed_out = False

        def kill() -> None:
            nonlocal is_timed_out
            is_timed_out = True
            child.kill()

        timer = Timer(limits.wall_seconds, kill)
        timer.start()
        try:
            header, content = _exchange_messages(child, task_payload, previous_model, examples)
        finally:
            timer.cancel()
        if is_timed_out:
            raise LearningFailed("timed_out", "Training or evaluation took too long.")
        if header is None:
            raise _build_exit_error(child.wait())
    if "error" in header:
        raise LearningFailed(header["error"], header["message"])
    return header, content


def _exchange_messages(
    child: "subprocess.Popen[bytes]",
    task_payload: bytes,
    previous_model: bytes | None,
    examples: Iterable[Example],
) -> tuple[dict[str, Any] | None, bytes]:
    """Send the task and the examples, and return the header and the content of the result.

    The header is None if the child exited without a result.
    """
    stdin, stdout = cast("IO[bytes]", child.stdin), cast("IO[bytes]", child.stdout)
    with suppress(BrokenPipeError):  # The child needs no more examples, or has exited.
        write_frame(stdin, task_payload)
        write_frame(stdin, previous_model or b"")
        for example in examples:
            write_frame(stdin, encode_example(example))
    with suppress(BrokenPipeError):
        stdin.close()
    header = read_frame(stdout)
    content = read_frame(stdout) if header is not None else None
    return (None, b"") if header is None or content is None else (orjson.loads(header), content)


@contextmanager
def _start_child() -> Iterator["subprocess.Popen[bytes]"]:
    child = subprocess.Popen(  # noqa: S603 - our own interpreter and module
        interpreter.build_command("app.engines.learning.child"),
        cwd="/",
        env=interpreter.build_environment(one_thread=True),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,  # Ctrl-C in a terminal must only reach the service
    )
    try:
        yield child
    finally:
        child.kill()
        for stream in (child.stdin, child.stdout):
            with suppress(OSError):
                cast("IO[bytes]", stream).close()
        child.wait()


def _build_exit_error(status: int) -> LearningFailed | LearningInterrupted:
    if -status in (signal.SIGKILL, signal.SIGTERM, signal.SIGINT):
        return LearningInterrupted()
    if status == -24:  # noqa: PLR2004 - SIGXCPU
        return LearningFailed("timed_out", "Training or evaluation took too much processor time.")
    return LearningFailed("crashed", f"The training process exited with status {status}.")
