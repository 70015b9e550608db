"""Define the parameters of a model, which training determines and predictions use."""

from dataclasses import dataclass

from app.engines.extraction.calibration import Calibration
from app.engines.extraction.crf import RandomField
from app.engines.extraction.memory import Memory
from app.engines.extraction.model import Report
from app.engines.extraction.renderer import Renderer
from app.engines.extraction.trees import Ranker
from app.engines.extraction.values import Target
from app.engines.fields import Field


@dataclass(slots=True)
class FieldParameters:
    """The trained parameters for one field.

    `threshold` is the minimum confidence of a proposal. `currency` is the most frequent currency of
    the accepted values, or "".
    """

    ranker: Ranker | None
    calibration: Calibration
    renderer: Renderer
    threshold: float
    currency: str


@dataclass(slots=True)
class ModelParameters:
    """The trained parameters of a model.

    `version` identifies the training data, and `report` contains the out-of-fold results.
    `field_positions` maps each field to the position of its labels in `random_field`.
    """

    version: str
    fields: list[Field]
    targets: list[Target]
    random_field: RandomField
    field_positions: dict[str, int]
    field_parameters: dict[str, FieldParameters]
    memory: Memory
    report: Report
    headers: dict[str, frozenset[str]]
