"""Train a conditional random field with crfsuite and evaluate it with numpy."""

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
_PARAMETERS = {"c1": 0.1, "c2": 0.05, "max_iterations": 25, "feature.possible_transitions": True}
_NEVER = -40.0


@dataclass(slots=True)
class Field:
    """The weights of a conditional random field: attributes by labels, and labels by labels."""

    attributes: dict[str, int]
    states: Array
    transitions: Array

    def score(self, described: Sequence[Sequence[str]]) -> Array:
        """Return the score of each label for each token."""
        get = self.attributes.get
        known: list[int] = []
        starts = []
        for attributes in described:
            starts.append(len(known))
            known.extend(place for name in attributes if (place := get(name)) is not None)
            known.append(len(self.states) - 1)
        if not starts:
            return np.zeros((0, self.transitions.shape[0]))
        result: Array = np.add.reduceat(self.states[known], starts, axis=0)
        return result

    def decode(self, described: Sequence[Sequence[str]]) -> tuple[Array, Array]:
        """Return the probability of each label for each token, and the most likely labels."""
        scores = self.score(described)
        return compute_marginals(scores, self.transitions), find_path(scores, self.transitions)


def compute_marginals(scores: Array, transitions: Array) -> Array:
    """Return the probabilities of labels by the forward-backward algorithm."""
    count = len(scores)
    if not count:
        return np.zeros_like(scores)
    # Scaled in the linear domain, as crfsuite does; row maxima keep the exponentials finite.
    states = np.exp(scores - scores.max(axis=1, keepdims=True))
    moves = np.exp(transitions - transitions.max())
    forward, backward = np.empty_like(states), np.empty_like(states)
    forward[0] = states[0] / states[0].sum()
    for at in range(1, count):
        row = (forward[at - 1] @ moves) * states[at]
        forward[at] = row / row.sum()
    backward[-1] = 1.0
    for at in range(count - 2, -1, -1):
        row = moves @ (states[at + 1] * backward[at + 1])
        backward[at] = row / row.sum()
    result = forward * backward
    shares: Array = result / result.sum(axis=1, keepdims=True)
    return shares


def find_path(scores: Array, transitions: Array) -> Array:
    """Return the most likely sequence of labels by the Viterbi algorithm."""
    count = len(scores)
    path = np.zeros(count, dtype=np.int64)
    if not count:
        return path
    best = scores[0]
    back = np.zeros(scores.shape, dtype=np.int64)
    for at in range(1, count):
        reached = best[:, None] + transitions
        back[at] = reached.argmax(axis=0)
        best = reached.max(axis=0) + scores[at]
    path[-1] = int(best.argmax())
    for at in range(count - 1, 0, -1):
        path[at - 1] = back[at, path[at]]
    return path


def prepare_items(described: Sequence[Sequence[str]]) -> Any:
    """Return the attributes of a document's tokens in the form of crfsuite."""
    import pycrfsuite  # noqa: PLC0415

    return pycrfsuite.ItemSequence(described)


def train(items: Sequence[Any], labels: Sequence[Sequence[int]], label_count: int) -> Field:
    """Train with L-BFGS on prepared items; labels are numbers below `label_count`."""
    import pycrfsuite  # noqa: PLC0415

    trainer = pycrfsuite.Trainer(algorithm="lbfgs", params=_PARAMETERS, verbose=False)
    for item, sequence in zip(items, labels, strict=True):
        trainer.append(item, [str(label) for label in sequence])
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "model")
        trainer.train(path)
        tagger = pycrfsuite.Tagger()
        tagger.open(path)
        dump = tagger.info()
        tagger.close()
    return _build_field(dump, label_count)


def _build_field(dump: Any, label_count: int) -> Field:
    names = sorted({attribute for attribute, _ in dump.state_features})
    attributes = {name: place for place, name in enumerate(names)}
    # The last row stays zero: it stands for attributes that were never seen.
    states = np.zeros((len(names) + 1, label_count))
    for (name, label), weight in dump.state_features.items():
        states[attributes[name], int(label)] = weight
    transitions = np.zeros((label_count, label_count))
    for (before, after), weight in dump.transitions.items():
        transitions[int(before), int(after)] = weight
    seen = {int(label) for label in dump.labels}
    for label in set(range(label_count)) - seen:
        transitions[:, label] = _NEVER
        states[:, label] = _NEVER
    return Field(attributes, states, transitions)
