"""Predict the tags of documents with a trained model."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from app.engines.extraction import crf, ranking, sequences, trees
from app.engines.extraction.analysis import analyze
from app.engines.extraction.calibration import Scale
from app.engines.extraction.crf_features import describe_tokens
from app.engines.extraction.features import build_features
from app.engines.extraction.memory import Memory, Recall
from app.engines.extraction.model import Document, Report
from app.engines.extraction.proposing import Reading, build_tag, build_value, collect, read
from app.engines.extraction.renderer import Renderer
from app.engines.extraction.spans import SpanScores
from app.engines.extraction.storage import write_model
from app.engines.extraction.tables import propose_tables
from app.engines.extraction.values import Target
from app.engines.fields import Field, Tag


@dataclass(slots=True)
class Learned:
    """The trained parameters of one field.

    `threshold` is the confidence below which nothing is proposed, and `currency` the usual one.
    """

    ranker: trees.Ranker | None
    scale: Scale
    renderer: Renderer
    threshold: float
    currency: str


@dataclass(slots=True)
class TrainedModel:
    """A trained model; immutable, and safe to use in several threads.

    `version` identifies what it was trained on, and `report` has its out-of-fold results.
    """

    version: str
    fields: list[Field]
    targets: list[Target]
    field: crf.Field
    places: dict[str, int]
    learned: dict[str, Learned]
    memory: Memory
    report: Report
    headers: dict[str, frozenset[str]]

    def predict(self, document: Document) -> list[Tag]:
        """Return tags in the normal form of `app.engines.fields`, with evidence and confidence.

        The same document gives the same tags. Fields that were never accepted get no tag.
        """
        reading = read(analyze(document))
        if not reading.analysis.tokens:
            return []
        scores = sequences.decode(self.field, describe_tokens(reading.analysis))
        recall = self.memory.build_recall(reading.analysis)
        tags = []
        for target in self.targets:
            if target.name in self.learned:
                place = self.places.get(target.name)
                found = scores[place] if place is not None else None
                tags += self._propose(reading, target, recall, found)
        tags += propose_tables(reading.analysis, self.fields, self.headers)
        return complete_evidence(tags, document)

    def _propose(
        self, reading: Reading, target: Target, recall: Recall, scores: SpanScores | None
    ) -> list[Tag]:
        learned = self.learned[target.name]
        view, found = collect(reading, target, self.memory, scores=scores)
        if learned.ranker is None or not found:
            return []
        rows = np.array(build_features(view, found, recall, scores), dtype=np.float64)
        choices = ranking.choose(
            found, learned.ranker.decide(rows), multiple=bool(target.field["multiple"])
        )
        tags: list[Tag] = []
        for choice in choices:
            candidate = found[choice.place]
            confidence = learned.scale.apply(choice.odds, choice.margin)
            text = learned.renderer.render(candidate.text)
            value = build_value(view, candidate, text, learned.currency)
            if value is not None and confidence >= learned.threshold:
                tags.append(build_tag(view, candidate, value, confidence))
        return tags

    def to_bytes(self) -> bytes:
        """Return the model in a format that contains only numbers and JSON."""
        return write_model(self)


def complete_evidence(tags: list[Tag], document: Document) -> list[Tag]:
    """Fill in the text of each piece of evidence, and drop empty ones."""
    for tag in tags:
        pieces: list[dict[str, Any]] = tag["evidence"]
        for piece in pieces:
            piece["text"] = document.text[piece["start"] : piece["end"]]
        tag["evidence"] = [piece for piece in pieces if piece["text"]]
    return tags
