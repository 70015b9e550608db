"""Remember accepted values and their places, to recognize them in similar documents."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from app.engines.extraction.analysis import Analysis
from app.engines.extraction.candidates import Candidate
from app.engines.extraction.layout import compact

_SIMILAR = 5
_SHORTEST = 4


@dataclass(slots=True)
class Memory:
    """The accepted values and words of documents, by their position in a fixed order.

    `words` has the words of each document. `entries` has, for each field, one record per accepted
    value: document, compact value, spelling, text on the left, x, y, and number of lines.
    """

    words: list[list[str]] = field(default_factory=list)
    entries: dict[str, list[list[Any]]] = field(default_factory=dict)
    _postings: dict[str, list[int]] = field(default_factory=dict)
    _by_value: dict[str, dict[str, list[int]]] = field(default_factory=dict)
    _by_document: dict[str, dict[int, list[list[Any]]]] = field(default_factory=dict)

    def index(self) -> None:
        """Build the indexes. Call this after all documents were added."""
        postings: dict[str, list[int]] = defaultdict(list)
        for number, words in enumerate(self.words):
            for word in words:
                postings[word].append(number)
        self._postings = dict(postings)
        for name, records in self.entries.items():
            by_value: dict[str, list[int]] = defaultdict(list)
            by_document: dict[int, list[list[Any]]] = defaultdict(list)
            for record in records:
                by_value[record[1]].append(record[0])
                by_document[record[0]].append(record)
            self._by_value[name], self._by_document[name] = dict(by_value), dict(by_document)

    def add(self, analysis: Analysis) -> int:
        """Add a document and return its position."""
        self.words.append(sorted(analysis.words))
        return len(self.words) - 1

    def add_value(
        self, document: int, name: str, analysis: Analysis, candidate: Candidate, spelling: str
    ) -> None:
        """Add an accepted value of field `name` at its place in a document."""
        token = analysis.tokens[candidate.first]
        record = [
            document,
            compact(spelling),
            spelling,
            find_left_text(analysis, candidate.first),
            round(token.box[0], 4),
            round(token.box[1], 4),
            len(candidate.ranges),
        ]
        self.entries.setdefault(name, []).append(record)

    def find_similar(self, words: Iterable[str], without: int | None = None) -> dict[int, float]:
        """Return the similarity, from 0 to 1, of all documents that share a word with `words`."""
        count = len(self.words)
        weights, total = {}, 0.0
        for word in sorted(words):
            documents = self._postings.get(word, ())
            weights[word] = math.log((count + 1) / (len(documents) + 0.5)) + 0.1
            total += weights[word]
        shared: dict[int, float] = defaultdict(float)
        for word, weight in weights.items():
            for number in self._postings.get(word, ()):
                shared[number] += weight
        shared.pop(without, None)  # type: ignore[arg-type]
        return {number: weight / total for number, weight in shared.items()} if total else {}

    def build_recall(self, analysis: Analysis, without: int | None = None) -> "Recall":
        """Return the memory as seen from a document; `without` excludes one position."""
        similar = self.find_similar(analysis.words, without)
        best = sorted(similar, key=lambda number: (-similar[number], number))[:_SIMILAR]
        return Recall(self, similar, best, without)

    def list_spellings(self, name: str) -> dict[str, Counter[str]]:
        """Return how often each spelling of each compact value was accepted."""
        spellings: dict[str, Counter[str]] = defaultdict(Counter)
        for record in self.entries.get(name, ()):
            spellings[record[1]][record[2]] += 1
        return dict(spellings)

    def list_values(self, name: str) -> list[str]:
        """Return the compact values of a field that are long enough to be searched for."""
        return sorted(key for key in self._by_value.get(name, ()) if len(key) >= _SHORTEST)

    def get_documents(self, name: str, key: str) -> list[int]:
        """Return the positions of documents with the compact value `key`."""
        return self._by_value.get(name, {}).get(key, [])

    def get_records(self, name: str, number: int) -> list[list[Any]]:
        """Return the records of a field in one document."""
        return self._by_document.get(name, {}).get(number, [])


@dataclass(slots=True)
class Recall:
    """A memory as seen from one document."""

    memory: Memory
    similar: dict[int, float]
    best: list[int]
    without: int | None

    def build_features(self, analysis: Analysis, name: str, candidate: Candidate) -> list[float]:
        """Return six features of a candidate; all are 0 without memory."""
        documents = self.memory.get_documents(name, compact(candidate.text))
        others = [number for number in documents if number != self.without]
        same = max((self.similar.get(number, 0.0) for number in others), default=0.0)
        left = find_left_text(analysis, candidate.first) if self.best else ""
        box = analysis.tokens[candidate.first].box
        by_left = near = lines = 0.0
        for number in self.best:
            weight = self.similar[number]
            for record in self.memory.get_records(name, number):
                by_left = max(by_left, weight if record[3] == left else 0.0)
                distance = abs(record[4] - box[0]) * 4 + abs(record[5] - box[1]) * 12
                near = max(near, weight * math.exp(-distance))
                lines = max(lines, weight if record[6] == len(candidate.ranges) else 0.0)
        top = self.similar[self.best[0]] if self.best else 0.0
        return [math.log1p(len(others)), same, top, by_left, near, lines]


def find_left_text(analysis: Analysis, index: int) -> str:
    """Return the two words left of a token in its row, without digits, or a mark of its start."""
    first, _ = analysis.layout.rows[analysis.tokens[index].row]
    words = [token.compact for token in analysis.tokens[max(first, index - 2) : index]]
    joined = " ".join("".join("0" if c.isdigit() else c for c in word) for word in words)
    return joined or "^"
