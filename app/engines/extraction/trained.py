"""Predict tags for documents with a trained model."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from app.engines.extraction import ranking, sequences
from app.engines.extraction.analysis import analyze
from app.engines.extraction.crf_features import list_token_attributes
from app.engines.extraction.features import build_features
from app.engines.extraction.memory import DocumentMemory
from app.engines.extraction.model import Document
from app.engines.extraction.parameters import ModelParameters
from app.engines.extraction.proposing import (
    PreparedDocument,
    build_tag,
    build_value,
    collect_candidates,
    prepare_document,
)
from app.engines.extraction.spans import SpanScores
from app.engines.extraction.storage import write_model
from app.engines.extraction.tables import propose_tables
from app.engines.extraction.values import Target
from app.engines.fields import Tag


@dataclass(slots=True)
class TrainedModel(ModelParameters):
    """A trained model. It never changes, so threads may share it."""

    def predict(self, document: Document) -> list[Tag]:
        """Predict the tags for a document, with evidence and confidence.

        The tags are in the normal form that `app.engines.fields` defines. The same document always
        gives the same tags. Apart from tables, only fields with accepted values in the training
        data get tags.
        """
        prepared_document = prepare_document(analyze(document))
        if not prepared_document.analysis.tokens:
            return []
        scores = sequences.decode_scores(
            self.random_field, list_token_attributes(prepared_document.analysis)
        )
        document_memory = self.memory.build_document_memory(prepared_document.analysis)
        tags = []
        for target in self.targets:
            if target.name in self.field_parameters:
                position = self.field_positions.get(target.name)
                field_scores = scores[position] if position is not None else None
                tags += self._propose(prepared_document, target, document_memory, field_scores)
        tags += propose_tables(prepared_document.analysis, self.fields, self.headers)
        return complete_evidence(tags, document)

    def _propose(
        self,
        prepared_document: PreparedDocument,
        target: Target,
        document_memory: DocumentMemory,
        scores: SpanScores | None,
    ) -> list[Tag]:
        parameters = self.field_parameters[target.name]
        view, candidates = collect_candidates(prepared_document, target, self.memory, scores=scores)
        if parameters.ranker is None or not candidates:
            return []
        rows = np.array(build_features(view, candidates, document_memory, scores), dtype=np.float64)
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
        """Serialize the model to bytes that contain only numbers and JSON."""
        return write_model(self)


def complete_evidence(tags: list[Tag], document: Document) -> list[Tag]:
    """Add the text to each piece of evidence, and remove pieces without text."""
    for tag in tags:
        pieces: list[dict[str, Any]] = tag["evidence"]
        for piece in pieces:
            piece["text"] = document.text[piece["start"] : piece["end"]]
        tag["evidence"] = [piece for piece in pieces if piece["text"]]
    return tags
