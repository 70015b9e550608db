"""Index the words and accepted values of training documents, to find them in similar documents.

A *compact value* is the text of a value without spaces, punctuation, accents and case, as
`compact_text` returns it. Values with the same compact value differ only in their spelling.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from app.engines.extraction.analysis import Analysis
from app.engines.extraction.candidates import Candidate
from app.engines.extraction.layout import compact_text

_MAX_SIMILAR_DOCUMENTS = 5
_MIN_VALUE_LENGTH = 4


class AcceptedValue(NamedTuple):
    """A value that was accepted in a training document. Stored models contain it as a JSON list.

    `left_text` is the result of `find_left_text`. `x` and `y` are the left and top edges of the
    value, as fractions of the page size.
    """

    document_number: int
    compact_value: str
    spelling: str
    left_text: str
    x: float
    y: float
    line_count: int


@dataclass(slots=True)
class TrainingIndex:
    """An index of the words and accepted values of training documents, which are numbered from 0.

    `words` contains the words of each document, and `entries` the accepted values of each field.
    """

    words: list[list[str]] = field(default_factory=list)
    entries: dict[str, list[AcceptedValue]] = field(default_factory=dict)
    _postings: dict[str, list[int]] = field(default_factory=dict)
    _by_value: dict[str, dict[str, list[int]]] = field(default_factory=dict)
    _by_document: dict[str, dict[int, list[AcceptedValue]]] = field(default_factory=dict)

    def build_mappings(self) -> None:
        """Build the mappings for lookups. Call this after all documents and values are added."""
        postings: dict[str, list[int]] = defaultdict(list)
        for number, words in enumerate(self.words):
            for word in words:
                postings[word].append(number)
        self._postings = dict(postings)
        for name, entries in self.entries.items():
            by_value: dict[str, list[int]] = defaultdict(list)
            by_document: dict[int, list[AcceptedValue]] = defaultdict(list)
            for entry in entries:
                by_value[entry.compact_value].append(entry.document_number)
                by_document[entry.document_number].append(entry)
            self._by_value[name], self._by_document[name] = dict(by_value), dict(by_document)

    def add_document(self, analysis: Analysis) -> int:
        """Add a document's words, and return the number of the document."""
        self.words.append(sorted(analysis.words))
        return len(self.words) - 1

    def add_value(
        self,
        document_number: int,
        name: str,
        analysis: Analysis,
        candidate: Candidate,
        spelling: str,
    ) -> None:
        """Add an accepted value of the field `name`, with its position.

        `document_number` is the number that `add_document` returned.
        """
        token = analysis.tokens[candidate.first]
        entry = AcceptedValue(
            document_number,
            compact_text(spelling),
            spelling,
            find_left_text(analysis, candidate.first),
            round(token.box[0], 4),
            round(token.box[1], 4),
            len(candidate.ranges),
        )
        self.entries.setdefault(name, []).append(entry)

    def find_similarities(
        self, words: Iterable[str], excluded_document_number: int | None = None
    ) -> dict[int, float]:
        """Return a similarity from 0 to 1 for each document that contains any of `words`.

        The keys are document numbers; `excluded_document_number` is left out.
        """
        count = len(self.words)
        weights, total = {}, 0.0
        for word in sorted(words):
            numbers = self._postings.get(word, ())
            weights[word] = math.log((count + 1) / (len(numbers) + 0.5)) + 0.1
            total += weights[word]
        shared_weights: dict[int, float] = defaultdict(float)
        for word, weight in weights.items():
            for number in self._postings.get(word, ()):
                shared_weights[number] += weight
        shared_weights.pop(excluded_document_number, None)  # type: ignore[arg-type]
        return {n: weight / total for n, weight in shared_weights.items()} if total else {}

    def find_similar_documents(
        self, analysis: Analysis, excluded_document_number: int | None = None
    ) -> "SimilarDocuments":
        """Find the training documents that are similar to a document.

        The document with the number `excluded_document_number` is left out. In training, this is
        the document itself.
        """
        similarities = self.find_similarities(analysis.words, excluded_document_number)
        best_numbers = sorted(similarities, key=lambda number: (-similarities[number], number))[
            :_MAX_SIMILAR_DOCUMENTS
        ]
        return SimilarDocuments(self, similarities, best_numbers, excluded_document_number)

    def count_spellings(self, name: str) -> dict[str, Counter[str]]:
        """Count how often each spelling was accepted, for each compact value of a field."""
        spellings: dict[str, Counter[str]] = defaultdict(Counter)
        for entry in self.entries.get(name, ()):
            spellings[entry.compact_value][entry.spelling] += 1
        return dict(spellings)

    def list_compact_values(self, name: str) -> list[str]:
        """Return the compact values of a field that are long enough to search for."""
        return sorted(key for key in self._by_value.get(name, ()) if len(key) >= _MIN_VALUE_LENGTH)

    def list_document_numbers(self, name: str, compact_value: str) -> list[int]:
        """Return the numbers of the documents in which a field has the compact value.

        A number is repeated if the document has the value more than once.
        """
        return self._by_value.get(name, {}).get(compact_value, [])

    def get_accepted_values(self, name: str, document_number: int) -> list[AcceptedValue]:
        """Return the accepted values of a field in one document."""
        return self._by_document.get(name, {}).get(document_number, [])


@dataclass(slots=True)
class SimilarDocuments:
    """The training documents that are similar to one document.

    `similarities` maps the numbers of training documents to similarities from 0 to 1.
    `best_document_numbers` contains the numbers of the most similar documents, at most
    _MAX_SIMILAR_DOCUMENTS, most similar first.
    """

    training_index: TrainingIndex
    similarities: dict[int, float]
    best_document_numbers: list[int]
    excluded_document_number: int | None

    def build_features(self, analysis: Analysis, name: str, candidate: Candidate) -> list[float]:
        """Build six features that compare a candidate with similar documents' accepted values.

        Returns the number of other documents with the same value (as a logarithm) and their highest
        similarity, the highest similarity of all documents, and the highest similarity of a value
        with the same text to its left, of a near value, and of one with the same number of lines.
        All features are 0 if the training index is empty.
        """
        numbers = self.training_index.list_document_numbers(name, compact_text(candidate.text))
        other_numbers = [number for number in numbers if number != self.excluded_document_number]
        value_match = max(
            (self.similarities.get(number, 0.0) for number in other_numbers), default=0.0
        )
        best_numbers = self.best_document_numbers
        left = find_left_text(analysis, candidate.first) if best_numbers else ""
        box = analysis.tokens[candidate.first].box
        left_text_match = nearness = lines_match = 0.0
        for number in best_numbers:
            weight = self.similarities[number]
            for entry in self.training_index.get_accepted_values(name, number):
                left_text_match = max(left_text_match, weight if entry.left_text == left else 0.0)
                distance = abs(entry.x - box[0]) * 4 + abs(entry.y - box[1]) * 12
                nearness = max(nearness, weight * math.exp(-distance))
                lines_match = max(
                    lines_match, weight if entry.line_count == len(candidate.ranges) else 0.0
                )
        best_similarity = self.similarities[best_numbers[0]] if best_numbers else 0.0
        return [
            math.log1p(len(other_numbers)),
            value_match,
            best_similarity,
            left_text_match,
            nearness,
            lines_match,
        ]


def find_left_text(analysis: Analysis, index: int) -> str:
    """Return the compact text of up to two tokens left of a token, or "^" if there are none.

    Only tokens in the same row are used. Digits are replaced with 0.
    """
    first, _ = analysis.layout.rows[analysis.tokens[index].row]
    words = [token.compact for token in analysis.tokens[max(first, index - 2) : index]]
    joined_words = " ".join("".join("0" if c.isdigit() else c for c in word) for word in words)
    return joined_words or "^"
