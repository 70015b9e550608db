"""Learn from accepted tag sets of one schema version and propose tags for new documents.

All functions are pure: the same inputs give the same model, byte for byte. Importing this package
loads neither numpy nor scikit-learn; the functions load them. Training uses one thread, and takes
up to a minute and up to 1 GB of memory. Run it in a child process that can be killed, with
OMP_NUM_THREADS=1.

If there are too few examples for training, use `propose_by_rules`, which needs no model.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from app.engines.extraction.model import (
    MAX_EXAMPLES,
    MAX_TRAINING_WORDS,
    MIN_EXAMPLES,
    CalibrationBin,
    Document,
    Example,
    InvalidModel,
    NotEnoughExamples,
    Report,
    SourceWord,
    select_words,
)
from app.engines.fields import Field, Tag

if TYPE_CHECKING:
    from app.engines.extraction.trained import TrainedModel

__all__ = [
    "MAX_EXAMPLES",
    "MAX_TRAINING_WORDS",
    "MIN_EXAMPLES",
    "CalibrationBin",
    "Document",
    "Example",
    "InvalidModel",
    "NotEnoughExamples",
    "Report",
    "SourceWord",
    "can_replace",
    "check_content",
    "evaluate",
    "load_model",
    "propose_by_rules",
    "select_words",
    "train",
]


def propose_by_rules(
    document: Document, fields: Sequence[Field], memory: Sequence[Example] = ()
) -> list[Tag]:
    """Return tags proposed from the key, label, description and type of each field.

    `memory` contains the accepted examples, if there are any (usually fewer than MIN_EXAMPLES).
    Values and positions that occur in similar examples are preferred. The tags are in the normal
    form that `app.engines.fields` defines, with `source` "model", a confidence and evidence. Fields
    with `ai_assist` false get no tags.
    """
    from app.engines.extraction.rule_based import propose  # noqa: PLC0415

    return propose(document, fields, memory)


def train(
    examples: Sequence[Example], fields: Sequence[Field], *, schema_version: str
) -> "TrainedModel":
    """Train a model on `examples`, and return it with its out-of-fold report.

    `fields` are the fields of one schema version, as returned by `check_fields`. `schema_version`
    is the id of that version. Only the newest MAX_EXAMPLES examples are used. If there are two or
    more labelers, the number of examples by one labeler is limited; see `select_examples`. Raises
    NotEnoughExamples if fewer than MIN_EXAMPLES examples are usable.

    The model's `version` is a hexadecimal SHA-256. Its method `predict` returns tags for a
    document, and `to_bytes` returns the content to store, which `load_model` reads.
    """
    from app.engines.extraction.training import train_model  # noqa: PLC0415

    return train_model(examples, fields, schema_version)


def load_model(content: bytes) -> "TrainedModel":
    """Load a model from the bytes that `TrainedModel.to_bytes` returned, without unpickling.

    Raises InvalidModel if the bytes are damaged, or if the model has a different feature version
    and must be retrained.
    """
    from app.engines.extraction.loading import read_model  # noqa: PLC0415

    return read_model(content)


def check_content(content: bytes) -> None:
    """Raise InvalidModel if the content is not a model, or has a different feature version.

    This check does not read the arrays, so it needs no numpy, but does not detect damaged arrays.
    """
    from app.engines.extraction.contents import check_content  # noqa: PLC0415

    check_content(content)


def can_replace(new: Report, old: Report) -> bool:
    """Return whether a new model may replace an old one, according to their reports.

    The F1 score of the new model must not be significantly lower. Documents that both reports
    contain are compared in pairs, by a bootstrap with a fixed seed.
    """
    from app.engines.extraction.reports import is_not_worse  # noqa: PLC0415

    return is_not_worse(new, old)


def evaluate(examples: Sequence[Example], fields: Sequence[Field], *, folds: int = 5) -> Report:
    """Evaluate the engine by cross-validation, and return the report.

    The examples are divided into `folds` parts. The documents in each part are predicted by a model
    that was trained on the other parts. Raises NotEnoughExamples if there are too few examples.
    """
    from app.engines.extraction.evaluation import evaluate_folds  # noqa: PLC0415

    return evaluate_folds(examples, fields, folds)
