"""Predict tags for documents with a trained model, and serialize the model.

A serialized model is a zip file with JSON and numpy arrays, without Python objects. Nothing in the
file is executed or unpickled. Equal models give equal bytes: the entries are sorted and have a
fixed timestamp.
"""

import io
import json
import zipfile
from dataclasses import dataclass
from typing import Any

import numpy as np

from app.engines.extraction import ranking, sequences
from app.engines.extraction.calibration import Calibration
from app.engines.extraction.contents import DESCRIPTION_FILE
from app.engines.extraction.crf import SequenceModel
from app.engines.extraction.crf_features import list_token_attributes
from app.engines.extraction.examples import FEATURE_VERSION
from app.engines.extraction.features import FEATURE_COUNT, build_features
from app.engines.extraction.model import Document, Report
from app.engines.extraction.proposing import (
    PreparedDocument,
    build_tag,
    build_value,
    collect_candidates,
    prepare_document,
)
from app.engines.extraction.renderer import Renderer
from app.engines.extraction.spans import SpanScores
from app.engines.extraction.tables import propose_tables
from app.engines.extraction.training_index import SimilarDocuments, TrainingIndex
from app.engines.extraction.trees import Array, Ranker, to_arrays
from app.engines.extraction.values import Target
from app.engines.fields import Field, Tag

_ZIP_TIMESTAMP = (1980, 1, 1, 0, 0, 0)


@dataclass(slots=True)
class FieldParameters:
    """The trained parameters for one field.

    `ranker` is None if none could be trained; then the field gets no tags. `threshold` is the
    minimum confidence of a proposal. `currency` is the most frequent currency of the accepted
    values, or "".
    """

    ranker: Ranker | None
    calibration: Calibration
    renderer: Renderer
    threshold: float
    currency: str


@dataclass(slots=True)
class TrainedModel:
    """A trained model. It never changes, so threads may share it.

    `version` identifies the training data, and `report` contains the out-of-fold results.
    `field_positions` maps the key of each field in `sequence_model` to the field's number in
    `label_tokens`. `headers` is the result of `learn_headers`.
    """

    version: str
    fields: list[Field]
    targets: list[Target]
    sequence_model: SequenceModel
    field_positions: dict[str, int]
    field_parameters: dict[str, FieldParameters]
    training_index: TrainingIndex
    report: Report
    headers: dict[str, frozenset[str]]

    def predict(self, document: Document) -> list[Tag]:
        """Predict the tags for a document, with confidence and, for values found in it, evidence.

        The tags are in the normal form that `app.engines.fields` defines. The same document always
        gives the same tags. Apart from tables, only fields with accepted values in the training
        data get tags.
        """
        prepared_document = prepare_document(document)
        if not prepared_document.analysis.tokens:
            return []
        scores = sequences.decode_scores(
            self.sequence_model, list_token_attributes(prepared_document.analysis)
        )
        similar_documents = self.training_index.find_similar_documents(prepared_document.analysis)
        tags = []
        for target in self.targets:
            if target.name in self.field_parameters:
                position = self.field_positions.get(target.name)
                field_scores = scores[position] if position is not None else None
                tags += self._build_tags(prepared_document, target, similar_documents, field_scores)
        tags += propose_tables(prepared_document.analysis, self.fields, self.headers)
        return complete_evidence(tags, document)

    def _build_tags(
        self,
        prepared_document: PreparedDocument,
        target: Target,
        similar_documents: SimilarDocuments,
        scores: SpanScores | None,
    ) -> list[Tag]:
        parameters = self.field_parameters[target.name]
        view, candidates = collect_candidates(
            prepared_document, target, self.training_index, scores=scores
        )
        if parameters.ranker is None or not candidates:
            return []
        rows = np.array(
            build_features(view, candidates, similar_documents, scores), dtype=np.float64
        )
        choices = ranking.choose_candidates(
            candidates,
            parameters.ranker.compute_log_odds(rows),
            multiple=bool(target.field["multiple"]),
        )
        tags: list[Tag] = []
        for choice in choices:
            candidate = candidates[choice.index]
            confidence = parameters.calibration.apply(choice.log_odds, choice.margin)
            text = parameters.renderer.render(candidate.text)
            value = build_value(view, candidate, text, parameters.currency)
            if value is not None and confidence >= parameters.threshold:
                tags.append(build_tag(view, candidate, value, confidence))
        return tags

    def to_bytes(self) -> bytes:
        """Serialize the model to the bytes of a zip file, which `read_model` reads."""
        return _write_model(self)


def complete_evidence(tags: list[Tag], document: Document) -> list[Tag]:
    """Add texts to the evidence of `tags` in place, drop pieces without text, and return `tags`."""
    for tag in tags:
        pieces: list[dict[str, Any]] = tag["evidence"]
        for piece in pieces:
            piece["text"] = document.text[piece["start"] : piece["end"]]
        tag["evidence"] = [piece for piece in pieces if piece["text"]]
    return tags


def _write_model(model: TrainedModel) -> bytes:
    arrays: dict[str, Array] = {
        "crf.states": model.sequence_model.state_weights,
        "crf.transitions": model.sequence_model.transition_weights,
    }
    field_parameters: dict[str, Any] = {}
    for number, name in enumerate(sorted(model.field_parameters)):
        parameters = model.field_parameters[name]
        calibration = parameters.calibration
        if parameters.ranker is not None:
            arrays |= {f"ranker.{number}.{k}": v for k, v in to_arrays(parameters.ranker).items()}
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
            model.sequence_model.attributes, key=model.sequence_model.attributes.__getitem__
        ),
        "places": model.field_positions,
        "learned": field_parameters,
        "words": model.training_index.words,
        "entries": model.training_index.entries,
        "report": model.report.to_dict(),
        "headers": {name: sorted(phrases) for name, phrases in model.headers.items()},
    }
    return _pack_archive(arrays, json.dumps(content, sort_keys=True, ensure_ascii=False))


def _pack_archive(arrays: dict[str, Array], content: str) -> bytes:
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
