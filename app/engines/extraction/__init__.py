"""Learn from accepted tag sets of one schema version and propose tags for new documents.

All functions are pure: the same inputs give the same model, byte for byte. Importing this package
loads neither numpy nor scikit-learn; the functions do. Training needs one thread, up to a minute
and up to 1 GB: run it in a child process that can be killed, with OMP_NUM_THREADS=1.

With too few examples for training, use `propose_by_rules`, which needs no model.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from app.engines.extraction.model import (
    MAX_EXAMPLES,
    MIN_EXAMPLES,
    CalibrationBin,
    Document,
    Example,
    FieldReport,
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
    "MIN_EXAMPLES",
    "CalibrationBin",
    "Document",
    "Example",
    "FieldReport",
    "InvalidModel",
    "NotEnoughExamples",
    "Report",
    "SourceWord",
    "check_content",
    "compute_version",
    "evaluate",
    "is_better",
    "load_model",
    "propose_by_rules",
    "select_words",
    "train",
]


def propose_by_rules(
    document: Document, fields: Sequence[Field], memory: Sequence[Example] = ()
) -> list[Tag]:
    """Return tags proposed from the key, label, description and type of each field.

    `memory` has the few examples that exist (one to four); values and places from similar documents
    are preferred. The tags are in the normal form of `app.engines.fields`, with `source` "model",
    a confidence and evidence. Fields whose `ai_assist` is false get no tags.
    """
    from app.engines.extraction.rule_based import propose  # noqa: PLC0415

    return propose(document, fields, memory)


def train(
    examples: Sequence[Example], fields: Sequence[Field], *, schema_version: str
) -> "TrainedModel":
    """Return a model trained on `examples`, with its out-of-fold `report`.

    `fields` are the fields of one schema version in normal form (`check_fields`), and
    `schema_version` is its id. Only the newest MAX_EXAMPLES examples are used. If there are two or
    more labelers, at most half of the examples are by the same labeler. Raises NotEnoughExamples.

    `model.version` is a hexadecimal SHA-256. `model.predict(document)` returns tags,
    `model.to_bytes()` the content to store, and `load_model` reads it.
    """
    from app.engines.extraction.training import train_model  # noqa: PLC0415

    return train_model(examples, fields, schema_version)


def load_model(content: bytes) -> "TrainedModel":
    """Return the model that `TrainedModel.to_bytes` wrote. Nothing is unpickled.

    Raises InvalidModel, for example for a model of another feature version: retrain then.
    """
    from app.engines.extraction.loading import read_model  # noqa: PLC0415

    return read_model(content)


def check_content(content: bytes) -> None:
    """Raise InvalidModel if the content is not a model, or has another feature version.

    This check needs neither numpy nor the arrays, so it does not detect every kind of damage.
    """
    from app.engines.extraction.contents import check_content  # noqa: PLC0415

    check_content(content)


def compute_version(
    examples: Sequence[Example], fields: Sequence[Field], *, schema_version: str
) -> str:
    """Return the version that `train` would give its model, without training.

    The version is the SHA-256 of the examples' ids and revisions, the schema version and its
    fields, the feature version, and the library versions.
    """
    from app.engines.extraction.examples import hash_version  # noqa: PLC0415

    return hash_version(examples, fields, schema_version)


def is_better(new: Report, old: Report) -> bool:
    """Return whether the new model may replace the old: its F1 is not lower by more than noise.

    Documents that both reports contain are compared in pairs by a seeded bootstrap.
    """
    from app.engines.extraction.reports import is_not_worse  # noqa: PLC0415

    return is_not_worse(new, old)


def evaluate(examples: Sequence[Example], fields: Sequence[Field], *, folds: int = 5) -> Report:
    """Return the cross-validation results: each of `folds` models is tested on unseen documents."""
    from app.engines.extraction.evaluation import evaluate_folds  # noqa: PLC0415

    return evaluate_folds(examples, fields, folds)
