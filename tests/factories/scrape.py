"""Reading /metrics as Prometheus does."""

from collections.abc import Mapping

from flask import Flask
from prometheus_client.parser import text_string_to_metric_families

from app.kit import container
from app.kit.metrics.store import STORE

Series = tuple[str, frozenset[tuple[str, str]]]


def scrape(app: Flask) -> dict[Series, float]:
    """Every series of the page, with what was counted in this process up to now.

    As Prometheus does, refuses a page on which a series appears twice.
    """
    assert STORE.send()
    token = container.settings().metrics_token
    answer = app.test_client().get("/metrics", headers={"Authorization": f"Bearer {token}"})
    assert answer.status_code == 200, answer.text
    return parse(answer.text)


def parse(text: str) -> dict[Series, float]:
    """Every series of a page."""
    found: dict[Series, float] = {}
    families = list(text_string_to_metric_families(text))
    assert len({family.name for family in families}) == len(families)
    for family in families:
        for sample in family.samples:
            key = series(sample.name, sample.labels)
            assert key not in found, f"{key} appears twice"
            found[key] = sample.value
    return found


def series(name: str, labels: Mapping[str, str]) -> Series:
    """What a series is found by."""
    return name, frozenset(labels.items())


def counted(app: Flask, name: str, **labels: str) -> float:
    """The value of one series, 0 while there is none."""
    return scrape(app).get(series(name, labels), 0.0)
