"""The evaluators in numpy equal the libraries that trained the models."""

import tempfile
from pathlib import Path

import numpy as np
import pycrfsuite
import pytest

from app.engines.extraction import crf, trees
from tests.references import import_lazily

HistGradientBoostingClassifier = import_lazily("sklearn.ensemble", "HistGradientBoostingClassifier")
LogisticRegression = import_lazily("sklearn.linear_model", "LogisticRegression")


@pytest.fixture(scope="module")
def data():
    generator = np.random.default_rng(1)
    rows = generator.normal(size=(800, 12))
    return rows, rows[:, 0] * rows[:, 1] + 0.3 * generator.normal(size=800) > 0.4


def test_exported_trees_decide_as_scikit_learn(data):
    rows, labels = data
    fitted = HistGradientBoostingClassifier(max_iter=150, max_leaf_nodes=15, random_state=0).fit(
        rows, labels
    )
    ours = trees.export_trees(fitted).compute_log_odds(rows)
    assert np.abs(ours - fitted.decision_function(rows)).max() < 1e-6


def test_stored_rankers_decide_the_same(data):
    rows, labels = data
    for ranker in (trees.fit_trees(rows, labels), trees.fit_logistic_ranker(rows, labels)):
        again = trees.read_ranker(trees.to_arrays(ranker))
        assert np.array_equal(again.compute_log_odds(rows), ranker.compute_log_odds(rows))


def test_the_logistic_ranker_decides_as_scikit_learn(data):
    rows, labels = data
    ours = trees.fit_logistic_ranker(rows, labels, inverse_strength=1.0)
    scaled = ((rows - rows.mean(axis=0)) / rows.std(axis=0)).clip(-4, 4)
    fitted = LogisticRegression(C=1.0, class_weight="balanced", max_iter=300).fit(scaled, labels)
    assert np.abs(ours.compute_log_odds(rows) - fitted.decision_function(scaled)).max() < 1e-6


def test_marginals_and_paths_equal_crfsuite():
    generator = np.random.default_rng(2)
    sequences, labels = [], []
    for _ in range(30):
        states = [int(state) for state in generator.integers(0, 3, size=12)]
        sequences.append([[f"a={(s + int(generator.integers(0, 2))) % 3}", "bias"] for s in states])
        labels.append(states)
    trainer = pycrfsuite.Trainer(algorithm="lbfgs", params=crf._PARAMETERS, verbose=False)
    for sequence, states in zip(sequences, labels, strict=True):
        trainer.append(sequence, [str(state) for state in states])
    ours = crf.train_sequence_model(
        [crf.build_item_sequence(sequence) for sequence in sequences], labels, 3
    )
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "model")
        trainer.train(path)
        tagger = pycrfsuite.Tagger()
        tagger.open(path)
        for sequence in sequences[:5]:
            predicted = tagger.tag(sequence)
            marginals, path_found = ours.decode(sequence)
            expected = [[tagger.marginal(str(label), at) for label in range(3)] for at in range(12)]
            assert np.abs(marginals - np.array(expected)).max() < 1e-5
            # Of paths that are equally likely, either may be the result.
            likelihood = tagger.probability([str(label) for label in path_found])
            assert likelihood == pytest.approx(tagger.probability(predicted), rel=1e-4)
        tagger.close()


def test_unknown_attributes_and_empty_documents_are_decoded():
    field = crf.train_sequence_model([crf.build_item_sequence([["a"], ["b"]])] * 3, [[0, 1]] * 3, 5)
    marginals, _ = field.decode([["never seen"], ["b"]])
    assert marginals.shape == (2, 5)
    assert np.allclose(marginals.sum(axis=1), 1)
    assert field.decode([])[1].tolist() == []
    assert marginals[:, 2:].max() < 1e-9, "labels that never occurred are never likely"
