"""Read serialized models, without executing or unpickling their content."""

import io
import zipfile
from collections import Counter
from typing import Any

import numpy as np

from app.engines.extraction import crf, trees
from app.engines.extraction.calibration import Calibration
from app.engines.extraction.contents import READ_ERRORS, open_content, read_description
from app.engines.extraction.model import InvalidModel, Report
from app.engines.extraction.renderer import Renderer
from app.engines.extraction.trained_model import FieldParameters, TrainedModel
from app.engines.extraction.training_index import AcceptedValue, TrainingIndex
from app.engines.extraction.values import Target
from app.engines.fields import Field


def read_model(content: bytes) -> TrainedModel:
    """Read a model from the bytes that `TrainedModel.to_bytes` returned, without unpickling.

    Raises InvalidModel if the bytes are damaged, if the unpacked model is too large, or if it has
    other features and must be retrained.
    """
    try:
        with open_content(content) as archive:
            description = read_description(archive)
            return _build_model(_read_arrays(archive), description)
    except READ_ERRORS as error:
        raise InvalidModel("The content is not a model, or is damaged.") from error


def _read_arrays(archive: zipfile.ZipFile) -> dict[str, trees.Array]:
    arrays = {}
    for info in archive.infolist():
        if info.filename.endswith(".npy"):
            entry = io.BytesIO(archive.read(info))
            arrays[info.filename[:-4]] = np.lib.format.read_array(entry, allow_pickle=False)
    return arrays


def _build_model(arrays: dict[str, trees.Array], description: dict[str, Any]) -> TrainedModel:
    attributes = {name: index for index, name in enumerate(description["attributes"])}
    sequence_model = crf.SequenceModel(attributes, arrays["crf.states"], arrays["crf.transitions"])
    entries = {
        name: [AcceptedValue(*entry) for entry in field_entries]
        for name, field_entries in description["entries"].items()
    }
    training_index = TrainingIndex(description["words"], entries)
    training_index.build_mappings()
    fields_by_key = {content["key"]: content for content in description["fields"]}
    targets = [_read_target(content, fields_by_key) for content in description["targets"]]
    field_parameters = {
        name: _read_parameters(content, arrays, training_index, name)
        for name, content in description["learned"].items()
    }
    report = Report.from_dict(description["report"])
    headers = {name: frozenset(phrases) for name, phrases in description["headers"].items()}
    return TrainedModel(
        description["version"],
        description["fields"],
        targets,
        sequence_model,
        description["places"],
        field_parameters,
        training_index,
        report,
        headers,
    )


def _read_parameters(
    content: dict[str, Any],
    arrays: dict[str, trees.Array],
    training_index: TrainingIndex,
    name: str,
) -> FieldParameters:
    ranker = None
    if content["ranker"] is not None:
        prefix = f"ranker.{content['ranker']}."
        ranker_arrays = {
            k.removeprefix(prefix): v for k, v in arrays.items() if k.startswith(prefix)
        }
        ranker = trees.read_ranker(ranker_arrays)
    spellings: dict[str, Counter[str]] = (
        training_index.count_spellings(name) if content["mode"] != "plain" else {}
    )
    renderer = Renderer(spellings, content["mode"], content["strips"])
    return FieldParameters(
        ranker, Calibration(*content["scale"]), renderer, content["threshold"], content["currency"]
    )


def _read_target(content: dict[str, Any], fields_by_key: dict[str, Field]) -> Target:
    field = fields_by_key[content["name"]]
    return Target(
        content["name"], field, content["kind"], content["concept"], frozenset(content["phrases"])
    )
