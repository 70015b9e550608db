"""Fit rankers, and apply them with numpy: boosted trees, or a logistic ranker for few examples.

The scikit-learn trees are exported to arrays, so that a stored model needs neither pickle nor
scikit-learn.
"""

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from sklearn.ensemble import HistGradientBoostingClassifier

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class TreeRanker:
    """Boosted trees for binary classification, as arrays with a row per tree and a column per node.

    A leaf is its own child, so that every tree can be applied in `depth` steps. `base` is added
    to the sum of the values of the leaves.
    """

    feature: Array
    threshold: Array
    left: Array
    right: Array
    value: Array
    base: float
    depth: int

    def compute_log_odds(self, rows: Array) -> Array:
        """Return, for each row of features, the log odds that the candidate is correct."""
        count = self.feature.shape[0]
        trees = np.arange(count)[:, None]
        nodes = np.zeros((count, len(rows)), dtype=np.int64)
        columns = np.arange(len(rows))[None, :]
        for _ in range(self.depth):
            goes_left = rows[columns, self.feature[trees, nodes]] <= self.threshold[trees, nodes]
            nodes = np.where(goes_left, self.left[trees, nodes], self.right[trees, nodes])
        result: Array = self.value[trees, nodes].sum(axis=0) + self.base
        return result


@dataclass(frozen=True, slots=True)
class LogisticRanker:
    """A logistic regression on standardized features, each limited to the range from -4 to 4."""

    mean: Array
    scale: Array
    weights: Array
    bias: float

    def compute_log_odds(self, rows: Array) -> Array:
        """Return, for each row of features, the log odds that the candidate is correct."""
        result: Array = ((rows - self.mean) / self.scale).clip(-4, 4) @ self.weights + self.bias
        return result

    def add_prior(self, column: int, weight: float) -> "LogisticRanker":
        """Return a copy in which each unit of feature `column` adds `weight` to the log odds."""
        weights = self.weights.copy()
        weights[column] += weight * self.scale[column]
        return LogisticRanker(self.mean, self.scale, weights, self.bias)


Ranker = TreeRanker | LogisticRanker


_SCALARS: dict[str, type[float | int]] = {"base": float, "bias": float, "depth": int}
"""The types of the ranker parameters that are not arrays."""


def to_arrays(ranker: Ranker) -> dict[str, Array]:
    """Return the parameters of a ranker as named arrays, which `read_ranker` reads."""
    return {field.name: np.atleast_1d(getattr(ranker, field.name)) for field in fields(ranker)}


def read_ranker(arrays: dict[str, Array]) -> Ranker:
    """Build a ranker from the arrays that `to_arrays` returned."""
    parameters: dict[str, Any] = {
        name: _SCALARS[name](array[0]) if name in _SCALARS else array
        for name, array in arrays.items()
    }
    return LogisticRanker(**parameters) if "weights" in arrays else TreeRanker(**parameters)


def export_trees(classifier: "HistGradientBoostingClassifier") -> TreeRanker:
    """Convert a fitted binary classifier to a TreeRanker."""
    nodes = [predictors[0].nodes for predictors in classifier._predictors]  # noqa: SLF001
    shape = (len(nodes), max(len(tree) for tree in nodes))
    feature, left, right = (np.zeros(shape, dtype=np.int32) for _ in range(3))
    threshold, value = np.zeros(shape), np.zeros(shape)
    depth = 0
    for row, tree in enumerate(nodes):
        indexes = np.arange(len(tree))
        is_leaf = tree["is_leaf"].astype(bool)
        feature[row, indexes] = np.where(is_leaf, 0, tree["feature_idx"])
        threshold[row, indexes] = np.where(is_leaf, 0.0, tree["num_threshold"])
        left[row, indexes] = np.where(is_leaf, indexes, tree["left"])
        right[row, indexes] = np.where(is_leaf, indexes, tree["right"])
        value[row, indexes] = tree["value"]
        depth = max(depth, int(tree["depth"].max()))
    base = float(np.ravel(classifier._baseline_prediction)[0])  # noqa: SLF001
    return TreeRanker(feature, threshold, left, right, value, base, depth)


def fit_trees(rows: Array, is_correct: Array) -> TreeRanker:
    """Fit small boosted trees; the same input always gives the same trees."""
    from sklearn.ensemble import HistGradientBoostingClassifier  # noqa: PLC0415

    is_small = len(rows) < 4_000  # noqa: PLR2004 - allow leaves with fewer rows
    classifier = HistGradientBoostingClassifier(
        max_iter=150,
        max_leaf_nodes=15,
        learning_rate=0.07,
        min_samples_leaf=8 if is_small else 20,
        l2_regularization=2.0,
        early_stopping=False,
        random_state=0,
        max_bins=128,
    )
    classifier.fit(rows, is_correct)
    return export_trees(classifier)


def fit_logistic_ranker(
    rows: Array, is_correct: Array, *, inverse_strength: float = 0.01
) -> LogisticRanker:
    """Fit a strongly regularized logistic regression on standardized features.

    `inverse_strength` is the parameter C of scikit-learn.
    """
    from sklearn.linear_model import LogisticRegression  # noqa: PLC0415

    mean, scale = rows.mean(axis=0), rows.std(axis=0)
    scale = np.where(scale > 1e-9, scale, 1.0)  # noqa: PLR2004 - a constant feature
    classifier = LogisticRegression(C=inverse_strength, class_weight="balanced", max_iter=300)
    classifier.fit(((rows - mean) / scale).clip(-4, 4), is_correct)
    return LogisticRanker(mean, scale, classifier.coef_[0], float(classifier.intercept_[0]))
