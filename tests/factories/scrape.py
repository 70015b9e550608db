"""Read /metrics as Prometheus does."""

from collections.abc import Mapping

from flask import Flask
from prometheus_client.parser import text_string_to_metric_families

from app.kit import container
from app.kit.metrics.store import STORE

Series = tuple[str, frozenset[tuple[str, str]]]


def scrape(app: Flask) -> dict[Series, float]:
    """Return the value of each series on the page, including the latest counts of this process.

    Like Prometheus, fails if a series appears twice.
    """
    assert STORE.send()
    token = container.settings().metrics_token
    response = app.test_client().get("/metrics", headers={"Authorization": f"Bearer {token}"})
    assert response.status_code == 200, response.text
    return parse(response.text)


def parse(text: str) -> dict[Series, float]:
    """Parse a page, and return the value of each series. Fails if a series appears twice."""
    values: dict[Series, float] = {}
    families = list(text_string_to_metric_families(text))
    assert len({family.name for family in families}) == len(families)
    for family in families:
        for sample in family.samples:
            key = build_series_key(sample.name, sample.labels)
            assert key not in values, f"{key} appears twice"
            values[key] = sample.value
    return values


def build_series_key(name: str, labels: Mapping[str, str]) -> Series:
    """Return the key of a series: its name and labels."""
    return name, frozenset(labels.items())


def get_metric(app: Flask, name: str, **labels: str) -> float:
    """Return the value of a series, or 0 if it does not exist."""
    return scrape(app).get(build_series_key(name, labels), 0.0)
