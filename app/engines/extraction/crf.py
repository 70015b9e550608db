"""Train a conditional random field with crfsuite, and apply it with numpy."""

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from pycrfsuite import ItemSequence
    from pycrfsuite._dumpparser import ParsedDump

Array = np.ndarray[Any, Any]
_PARAMETERS = {"c1": 0.1, "c2": 0.05, "max_iterations": 25, "feature.possible_transitions": True}
_IMPOSSIBLE_WEIGHT = -40.0
"""The weight of labels that are not in the training data, so that they are never predicted."""


@dataclass(slots=True)
class SequenceModel:
    """The weights of a conditional random field.

    `attributes` maps attribute names to row numbers in `state_weights`, which has one column per
    label. Its last row is added for every token. `transition_weights` has one weight for each pair
    of consecutive labels. Labels are the numbers that `sequences.label_tokens` returns.
    """

    attributes: dict[str, int]
    state_weights: Array
    transition_weights: Array

    def score(self, token_attributes: Sequence[Sequence[str]]) -> Array:
        """Return each token's score for each label: the sum of the weights of known attributes."""
        get = self.attributes.get
        attribute_indexes: list[int] = []
        starts = []
        for attributes in token_attributes:
            starts.append(len(attribute_indexes))
            attribute_indexes.extend(
                index for name in attributes if (index := get(name)) is not None
            )
            attribute_indexes.append(len(self.state_weights) - 1)
        if not starts:
            return np.zeros((0, self.transition_weights.shape[0]))
        result: Array = np.add.reduceat(self.state_weights[attribute_indexes], starts, axis=0)
        return result

    def decode(self, token_attributes: Sequence[Sequence[str]]) -> tuple[Array, Array]:
        """Return the label probabilities of each token, and the most likely label sequence."""
        scores = self.score(token_attributes)
        return compute_marginals(scores, self.transition_weights), find_label_sequence(
            scores, self.transition_weights
        )


def compute_marginals(scores: Array, transition_weights: Array) -> Array:
    """Compute the label probabilities of each token by the forward-backward algorithm."""
    count = len(scores)
    if not count:
        return np.zeros_like(scores)
    # The rows are normalized, as in crfsuite. Subtracting maxima keeps the exponentials finite.
    state_factors = np.exp(scores - scores.max(axis=1, keepdims=True))
    transition_factors = np.exp(transition_weights - transition_weights.max())
    forward, backward = np.empty_like(state_factors), np.empty_like(state_factors)
    forward[0] = state_factors[0] / state_factors[0].sum()
    for index in range(1, count):
        row = (forward[index - 1] @ transition_factors) * state_factors[index]
        forward[index] = row / row.sum()
    backward[-1] = 1.0
    for index in range(count - 2, -1, -1):
        row = transition_factors @ (state_factors[index + 1] * backward[index + 1])
        backward[index] = row / row.sum()
    result = forward * backward
    marginals: Array = result / result.sum(axis=1, keepdims=True)
    return marginals


def find_label_sequence(scores: Array, transition_weights: Array) -> Array:
    """Find the most likely sequence of labels by the Viterbi algorithm."""
    count = len(scores)
    path = np.zeros(count, dtype=np.int64)
    if not count:
        return path
    best_scores = scores[0]
    predecessors = np.zeros(scores.shape, dtype=np.int64)
    for index in range(1, count):
        path_scores = best_scores[:, None] + transition_weights
        predecessors[index] = path_scores.argmax(axis=0)
        best_scores = path_scores.max(axis=0) + scores[index]
    path[-1] = int(best_scores.argmax())
    for index in range(count - 1, 0, -1):
        path[index - 1] = predecessors[index, path[index]]
    return path


def build_item_sequence(token_attributes: Sequence[Sequence[str]]) -> "ItemSequence":
    """Build a crfsuite item sequence from the attributes of a document's tokens."""
    import pycrfsuite  # noqa: PLC0415

    return pycrfsuite.ItemSequence(token_attributes)


def train_sequence_model(
    item_sequences: "Sequence[ItemSequence]", labels: Sequence[Sequence[int]], label_count: int
) -> SequenceModel:
    """Train a conditional random field with L-BFGS on item sequences and their labels.

    The labels are numbers from 0 up to `label_count`, exclusive.
    """
    import pycrfsuite  # noqa: PLC0415

    trainer = pycrfsuite.Trainer(algorithm="lbfgs", params=_PARAMETERS, verbose=False)
    for item_sequence, item_labels in zip(item_sequences, labels, strict=True):
        trainer.append(item_sequence, [str(label) for label in item_labels])
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "model")
        trainer.train(path)
        tagger = pycrfsuite.Tagger()
        tagger.open(path)
        dump = tagger.info()
        tagger.close()
    return _build_sequence_model(dump, label_count)


def _build_sequence_model(dump: "ParsedDump", label_count: int) -> SequenceModel:
    names = sorted({attribute for attribute, _ in dump.state_features})
    attributes = {name: index for index, name in enumerate(names)}
    # The last row belongs to no attribute. It gives scores to tokens without known attributes.
    state_weights = np.zeros((len(names) + 1, label_count))
    for (name, label), weight in dump.state_features.items():
        state_weights[attributes[name], int(label)] = weight
    transition_weights = np.zeros((label_count, label_count))
    for (before, after), weight in dump.transitions.items():
        transition_weights[int(before), int(after)] = weight
    learned_labels = {int(label) for label in dump.labels}
    for label in set(range(label_count)) - learned_labels:
        transition_weights[:, label] = _IMPOSSIBLE_WEIGHT
        state_weights[:, label] = _IMPOSSIBLE_WEIGHT
    return SequenceModel(attributes, state_weights, transition_weights)
