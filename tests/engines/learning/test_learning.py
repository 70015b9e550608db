"""The process that trains: its limits, and how it fails."""

from io import BytesIO
from typing import Any

import pytest

from app.engines import learning
from app.engines.extraction.model import MAX_TRAINING_WORDS, Document, Example, SourceWord
from app.engines.fields import check_fields
from app.engines.learning import (
    LearningFailed,
    LearningLimits,
    child,
    evaluate_in_child,
    train_in_child,
)
from app.engines.learning.messages import encode_example, write_frame

FIELDS = check_fields([{"key": "number", "type": "text"}])


def _example(number: int, text: str = "Nothing to learn") -> Example:
    return Example(str(number), 1, Document(text, []), [])


def _train(limits: LearningLimits, text: str = "Nothing to learn") -> LearningFailed:
    examples = (_example(number, text) for number in range(10))
    with pytest.raises(LearningFailed) as failure:
        train_in_child(examples, FIELDS, schema_version="1", limits=limits)
    return failure.value


def test_examples_without_values_are_too_few() -> None:
    assert _train(LearningLimits()).code == "not_enough_examples"


def test_memory_is_limited() -> None:
    failure = _train(LearningLimits(memory_bytes=100 * 2**20), text="word " * 5_000_000)
    assert failure.code in ("out_of_memory", "crashed")


def test_time_is_limited() -> None:
    assert _train(LearningLimits(wall_seconds=0.05)).code == "timed_out"


def test_each_fold_has_the_time_of_a_training(monkeypatch: pytest.MonkeyPatch) -> None:
    passed_limits: list[LearningLimits] = []

    def run_child(*arguments: Any) -> tuple[dict[str, Any], bytes]:
        passed_limits.append(arguments[-1])
        return {"report": {}}, b""

    monkeypatch.setattr(learning, "_run_child", run_child)
    evaluate_in_child([], FIELDS, folds=5, limits=LearningLimits(1, 2, 3.0))
    assert passed_limits == [LearningLimits(1, 10, 15.0)]


def test_no_more_examples_are_read_than_training_uses() -> None:
    words = [SourceWord("word", 1, None, 0, 4)] * (MAX_TRAINING_WORDS // 4)
    payload = encode_example(Example("1", 1, Document("word", words), []))
    stdin = BytesIO()
    for _ in range(12):
        write_frame(stdin, payload)
    stdin.seek(0)
    assert sum(1 for _ in child._read_examples(stdin)) == 8
    assert stdin.closed
