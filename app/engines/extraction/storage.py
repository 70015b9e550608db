"""Write trained models as a zip file with JSON and numpy arrays, without Python objects.

Nothing in the file is executed or unpickled. Equal models give equal bytes: the entries are sorted
and have a fixed timestamp.
"""

import io
import json
import zipfile
from typing import Any

import numpy as np

from app.engines.extraction.contents import DESCRIPTION_FILE
from app.engines.extraction.examples import FEATURE_VERSION
from app.engines.extraction.features import FEATURE_COUNT
from app.engines.extraction.parameters import ModelParameters
from app.engines.extraction.values import Target

Array = np.ndarray[Any, Any]
_ZIP_TIMESTAMP = (1980, 1, 1, 0, 0, 0)


def write_model(model: ModelParameters) -> bytes:
    """Serialize a model to the bytes of a zip file, which `read_model` reads."""
    arrays: dict[str, Array] = {
        "crf.states": model.random_field.states,
        "crf.transitions": model.random_field.transitions,
    }
    field_parameters: dict[str, Any] = {}
    for number, name in enumerate(sorted(model.field_parameters)):
        parameters = model.field_parameters[name]
        calibration = parameters.calibration
        if parameters.ranker is not None:
            arrays |= {f"ranker.{number}.{k}": v for k, v in parameters.ranker.to_arrays().items()}
        field_parameters[name] = {
            "ranker": number if parameters.ranker is not None else None,
            "scale": [calibration.log_odds_weight, calibration.margin_weight, calibration.constant],
            "mode": parameters.renderer.mode,
            "strips": parameters.renderer.stripped_chars,
            "threshold": parameters.threshold,
            "currency": parameters.currency,
        }
    content = {
        "feature_version": FEATURE_VERSION,
        "feature_count": FEATURE_COUNT,
        "version": model.version,
        "fields": model.fields,
        "targets": [_describe_target(target) for target in model.targets],
        "attributes": sorted(
            model.random_field.attributes, key=model.random_field.attributes.__getitem__
        ),
        "places": model.field_positions,
        "learned": field_parameters,
        "words": model.memory.words,
        "entries": model.memory.entries,
        "report": model.report.to_dict(),
        "headers": {name: sorted(phrases) for name, phrases in model.headers.items()},
    }
    return _pack(arrays, json.dumps(content, sort_keys=True, ensure_ascii=False))


def _pack(arrays: dict[str, Array], content: str) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
        for name in sorted(arrays):
            entry = io.BytesIO()
            np.lib.format.write_array(entry, np.ascontiguousarray(arrays[name]), allow_pickle=False)
            archive.writestr(_build_zip_info(f"{name}.npy"), entry.getvalue())
        archive.writestr(_build_zip_info(DESCRIPTION_FILE), content.encode())
    return buffer.getvalue()


def _build_zip_info(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name, _ZIP_TIMESTAMP)
    info.compress_type = zipfile.ZIP_DEFLATED
    return info


def _describe_target(target: Target) -> dict[str, Any]:
    return {
        "name": target.name,
        "kind": target.kind,
        "concept": target.concept,
        "phrases": sorted(target.phrases),
    }
