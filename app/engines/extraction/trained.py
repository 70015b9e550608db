"""Predict the tags of documents with a trained model."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from app.engines.extraction import crf, ranking, sequences, trees
from app.engines.extraction.analysis import analyze
from app.engines.extraction.calibration import Scale
from app.engines.extraction.crf_features import describe_tokens
from app.engines.extraction.features import build_features
from app.engines.extraction.memory import DocumentMemory, Memory
from app.engines.extraction.model import Document, Report
from app.engines.extraction.proposing import (
    Reading,
    build_tag,
    build_value,
    collect_candidates,
    read_document,
)
from app.engines.extraction.renderer import Renderer
from app.engines.extraction.spans import SpanScores
from app.engines.extraction.storage import write_model
from app.engines.extraction.tables import propose_tables
from app.engines.extraction.values import Target
from app.engines.fields import Field, Tag


@dataclass(slots=True)
class FieldParameters:
    """The trained parameters of one field.

    `threshold` is the minimum confidence of a proposal, and `currency` the most frequent currency.
    """

    ranker: trees.Ranker | None
    scale: Scale
    renderer: Renderer
    threshold: float
    currency: str


@dataclass(slots=True)
class TrainedModel:
    """A trained model. Nothing changes it, so threads may share it.

    `version` identifies its training data, and `report` has its out-of-fold results.
    `field_positions` has the position of each field in `random_field`.
    """

    version: str
    fields: list[Field]
    targets: list[Target]
    random_field: crf.RandomField
    field_positions: dict[str, int]
    field_parameters: dict[str, FieldParameters]
    memory: Memory
    report: Report
    headers: dict[str, frozenset[str]]

    def predict(self, document: Document) -> list[Tag]:
        """Return tags in the normal form of `app.engines.fields`, with evidence and confidence.

        The same document gives the same tags. Fields without accepted values in the training data
        get no tags, except tables.
        """
        reading = read_document(analyze(document))
        if not reading.analysis.tokens:
            return []
        scores = sequences.decode_scores(self.random_field, describe_tokens(reading.analysis))
        document_memory = self.memory.build_document_memory(reading.analysis)
        tags = []
        for target in self.targets:
            if target.name in self.field_parameters:
                position = self.field_positions.get(target.name)
                field_scores = scores[position] if position is not None else None
                tags += self._propose(reading, target, document_memory, field_scores)
        tags += propose_tables(reading.analysis, self.fields, self.headers)
        return complete_evidence(tags, document)

    def _propose(
        self,
        reading: Reading,
        target: Target,
        document_memory: DocumentMemory,
        scores: SpanScores | None,
    ) -> list[Tag]:
        parameters = self.field_parameters[target.name]
        view, candidates = collect_candidates(reading, target, self.memory, scores=scores)
        if parameters.ranker is None or not candidates:
            return []
        rows = np.array(build_features(view, candidates, document_memory, scores), dtype=np.float64)
        choices = ranking.choose_candidates(
            candidates, parameters.ranker.decide(rows), multiple=bool(target.field["multiple"])
        )
        tags: list[Tag] = []
        for choice in choices:
            candidate = candidates[choice.index]
            confidence = parameters.scale.apply(choice.odds, choice.margin)
            text = parameters.renderer.render(candidate.text)
            value = build_value(view, candidate, text, parameters.currency)
            if value is not None and confidence >= parameters.threshold:
                tags.append(build_tag(view, candidate, value, confidence))
        return tags

    def to_bytes(self) -> bytes:
        """Return the model in a format that contains only numbers and JSON."""
        return write_model(self)


def complete_evidence(tags: list[Tag], document: Document) -> list[Tag]:
    """Fill in the text of each piece of evidence, and remove pieces without text."""
    for tag in tags:
        pieces: list[dict[str, Any]] = tag["evidence"]
        for piece in pieces:
            piece["text"] = document.text[piece["start"] : piece["end"]]
        tag["evidence"] = [piece for piece in pieces if piece["text"]]
    return tags
