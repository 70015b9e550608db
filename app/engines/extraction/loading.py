"""Read trained models, which `storage` wrote; nothing in them is executed or unpickled."""

import io
import zipfile
from collections import Counter
from typing import Any

import numpy as np

from app.engines.extraction import crf, trees
from app.engines.extraction.calibration import Scale
from app.engines.extraction.contents import UNREADABLE, open_content, read_description
from app.engines.extraction.memory import Memory
from app.engines.extraction.model import InvalidModel, Report
from app.engines.extraction.renderer import Renderer
from app.engines.extraction.trained import Learned, TrainedModel
from app.engines.extraction.values import Target
from app.engines.fields import Field

Array = np.ndarray[Any, Any]


def read_model(content: bytes) -> TrainedModel:
    """Return the model that `write_model` wrote. Raises InvalidModel."""
    try:
        with open_content(content) as archive:
            described = read_description(archive)
            return _build_model(_read_arrays(archive), described)
    except UNREADABLE as error:
        raise InvalidModel("The content is not a model.") from error


def _read_arrays(archive: zipfile.ZipFile) -> dict[str, Array]:
    arrays = {}
    for info in archive.infolist():
        if info.filename.endswith(".npy"):
            entry = io.BytesIO(archive.read(info))
            arrays[info.filename[:-4]] = np.lib.format.read_array(entry, allow_pickle=False)
    return arrays


def _build_model(arrays: dict[str, Array], described: dict[str, Any]) -> TrainedModel:
    attributes = {name: place for place, name in enumerate(described["attributes"])}
    field = crf.Field(attributes, arrays["crf.states"], arrays["crf.transitions"])
    memory = Memory(described["words"], described["entries"])
    memory.index()
    by_key = {one["key"]: one for one in described["fields"]}
    targets = [_read_target(one, by_key) for one in described["targets"]]
    learned = {
        name: _read_learned(one, arrays, memory, name) for name, one in described["learned"].items()
    }
    report = Report.from_dict(described["report"])
    headers = {name: frozenset(phrases) for name, phrases in described["headers"].items()}
    return TrainedModel(
        described["version"],
        described["fields"],
        targets,
        field,
        described["places"],
        learned,
        memory,
        report,
        headers,
    )


def _read_learned(
    one: dict[str, Any], arrays: dict[str, Array], memory: Memory, name: str
) -> Learned:
    ranker = None
    if one["ranker"] is not None:
        prefix = f"ranker.{one['ranker']}."
        own = {k.removeprefix(prefix): v for k, v in arrays.items() if k.startswith(prefix)}
        ranker = trees.read_ranker(own)
    spellings: dict[str, Counter[str]] = (
        memory.list_spellings(name) if one["mode"] != "plain" else {}
    )
    renderer = Renderer(spellings, one["mode"], one["strips"])
    return Learned(ranker, Scale(*one["scale"]), renderer, one["threshold"], one["currency"])


def _read_target(one: dict[str, Any], by_key: dict[str, Field]) -> Target:
    field = by_key[one["name"]]
    return Target(one["name"], field, one["kind"], one["concept"], frozenset(one["phrases"]))
