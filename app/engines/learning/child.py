"""Run the child process that trains or evaluates a model.

The process reads a task and examples from stdin, and writes one result to stdout.
"""

import os
import resource
import sys
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, BinaryIO

import orjson

from app.engines.extraction.model import (
    MAX_TRAINING_WORDS,
    Example,
    InvalidModel,
    NotEnoughExamples,
)
from app.engines.learning.messages import decode_example, read_frame, write_frame
from app.engines.sandbox.confinement import exit_with_parent


def main() -> None:
    """Read the task, apply its limits, train or evaluate, and write the result."""
    stdin, stdout = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # Output from libraries must not mix with the result.
    task: dict[str, Any] = orjson.loads(read_frame(stdin) or b"{}")
    _apply_limits(task)
    previous_model = read_frame(stdin) or b""
    content = b""
    try:
        header, content = _run_task(task, previous_model, list(_read_examples(stdin)))
    except NotEnoughExamples as problem:
        header = {"error": "not_enough_examples", "message": str(problem)}
    except MemoryError:
        header = {"error": "out_of_memory", "message": "Training needed too much memory."}
    write_frame(stdout, orjson.dumps(header, option=orjson.OPT_SERIALIZE_NUMPY))
    write_frame(stdout, content)
    stdout.close()


def _apply_limits(task: dict[str, Any]) -> None:
    exit_with_parent(task["parent"])
    limits = task["limits"]
    os.nice(10)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (limits["cpu_seconds"], limits["cpu_seconds"] + 5))
    # Libraries reserve address space that they never use; RLIMIT_DATA does not count it.
    resource.setrlimit(resource.RLIMIT_DATA, (limits["memory_bytes"],) * 2)


def _read_examples(stdin: BinaryIO) -> Iterator[Example]:
    """Yield examples, at most until they have 2 * MAX_TRAINING_WORDS words; then close `stdin`."""
    remaining_words = 2 * MAX_TRAINING_WORDS
    while remaining_words > 0 and (payload := read_frame(stdin)) is not None:
        example = decode_example(payload)
        remaining_words -= len(example.document.words)
        yield example
    stdin.close()  # The parent then sends no more examples.


def _run_task(
    task: dict[str, Any], previous_model: bytes, examples: list[Example]
) -> tuple[dict[str, Any], bytes]:
    # Import these modules after the limits are set, so that the limits apply to their libraries.
    from app.engines.extraction import evaluation, loading, reports, training  # noqa: PLC0415

    if task["task"] == "evaluate":
        report = evaluation.evaluate_folds(examples, task["fields"], task["folds"])
        return {"report": report.to_dict()}, b""
    model = training.train_model(examples, task["fields"], task["schema_version"])
    is_no_worse = True
    if previous_model:
        # A previous model that is damaged or has another feature version is replaced.
        with suppress(InvalidModel):
            old_report = loading.read_model(previous_model).report
            is_no_worse = reports.is_not_worse(model.report, old_report)
    header = {
        "version": model.version,
        "report": model.report.to_dict(),
        "is_better": is_no_worse,  # the name in the messages of the previous release
    }
    return header, model.to_bytes()


if __name__ == "__main__":
    main()
