"""Write trained models: a zip file of numpy arrays without objects, and JSON.

Nothing in it is executed or unpickled. Equal models give equal bytes: the entries are sorted and
have a fixed time.
"""

import io
import json
import zipfile
from typing import Any

import numpy as np

from app.engines.extraction.contents import DESCRIPTION
from app.engines.extraction.examples import FEATURE_VERSION
from app.engines.extraction.features import COUNT
from app.engines.extraction.values import Target

Array = np.ndarray[Any, Any]
_TIME = (1980, 1, 1, 0, 0, 0)


def write_model(model: Any) -> bytes:
    """Return the bytes of a TrainedModel, whose module imports this one."""
    arrays: dict[str, Array] = {
        "crf.states": model.field.states,
        "crf.transitions": model.field.transitions,
    }
    learned: dict[str, Any] = {}
    for number, name in enumerate(sorted(model.learned)):
        one = model.learned[name]
        if one.ranker is not None:
            arrays |= {f"ranker.{number}.{k}": v for k, v in one.ranker.to_arrays().items()}
        learned[name] = {
            "ranker": number if one.ranker is not None else None,
            "scale": [one.scale.odds, one.scale.margin, one.scale.constant],
            "mode": one.renderer.mode,
            "strips": one.renderer.strips,
            "threshold": one.threshold,
            "currency": one.currency,
        }
    content = {
        "feature_version": FEATURE_VERSION,
        "feature_count": COUNT,
        "version": model.version,
        "fields": model.fields,
        "targets": [_describe(target) for target in model.targets],
        "attributes": sorted(model.field.attributes, key=model.field.attributes.__getitem__),
        "places": model.places,
        "learned": learned,
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
            archive.writestr(_name(f"{name}.npy"), entry.getvalue())
        archive.writestr(_name(DESCRIPTION), content.encode())
    return buffer.getvalue()


def _name(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name, _TIME)
    info.compress_type = zipfile.ZIP_DEFLATED
    return info


def _describe(target: Target) -> dict[str, Any]:
    return {
        "name": target.name,
        "kind": target.kind,
        "concept": target.concept,
        "phrases": sorted(target.phrases),
    }
