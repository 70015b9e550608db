"""The recommended threshold is the lowest whose lower bound of the precision reaches the target."""

import numpy as np
import pytest

from app.engines.calibration import recommend_threshold
from tests.references import import_lazily

proportion_confint = import_lazily("statsmodels.stats.proportion", "proportion_confint")


@pytest.mark.parametrize("target", [0.5, 0.8, 0.9, 0.95])
@pytest.mark.parametrize("seed", range(4))
def test_it_equals_a_search_of_all_thresholds(seed: int, target: float) -> None:
    generator = np.random.default_rng(seed)
    numbers = generator.integers(0, 100, size=4000)
    hits = generator.uniform(size=4000) < np.sqrt(numbers / 100)
    counts = {
        number: (int((numbers == number).sum()), int(hits[numbers == number].sum()))
        for number in range(100)
    }
    reached = [
        number
        for number in range(100)
        if counts[number][0]
        and proportion_confint(
            hits[numbers >= number].sum(), (numbers >= number).sum(), method="wilson"
        )[0]
        >= target
    ]
    threshold = recommend_threshold(counts, target)
    if not reached:
        assert threshold is None
        return
    assert threshold is not None
    assert threshold.value == min(reached) / 100
    above = numbers >= min(reached)
    assert threshold.predictions == above.sum()
    assert threshold.precision == pytest.approx(hits[above].mean(), abs=1e-9)
    assert threshold.coverage == pytest.approx(above.mean(), abs=1e-9)
    interval = proportion_confint(hits[above].sum(), above.sum(), method="wilson")
    assert (threshold.ci_low, threshold.ci_high) == pytest.approx(interval, abs=1e-9)


def test_few_predictions_reach_no_high_target() -> None:
    assert recommend_threshold({99: (20, 20)}, 0.95) is None
    assert recommend_threshold({99: (80, 80)}, 0.95) is not None


def test_nothing_is_recommended_without_predictions() -> None:
    assert recommend_threshold({}, 0.0) is None
