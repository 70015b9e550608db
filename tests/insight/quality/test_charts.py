"""Trends are sent as images."""

import pytest

from tests.factories.quality import QualityWorkspace


@pytest.mark.parametrize(
    ("accept", "start"), [("image/png", b"\x89PNG"), ("image/svg+xml", b"<?xml")]
)
def test_trends_are_rendered(quality: QualityWorkspace, accept: str, start: bytes) -> None:
    quality.label(quality.artifact(), "A")
    quality.update_metrics()
    path = "/quality/trends?metric=throughput&group_by=schema"
    answer = quality.org.api("viewer").get(path, headers={"Accept": accept})
    assert answer.status_code == 200
    assert answer.mimetype == accept
    assert answer.data.startswith(start)
    if accept.endswith("xml"):
        assert b"Invoices" in answer.data


def test_an_error_is_json(quality: QualityWorkspace) -> None:
    path = "/quality/trends?from=2026-01-05&to=2026-01-05"
    answer = quality.org.api("viewer").get(path, headers={"Accept": "image/png"})
    assert (answer.status_code, answer.mimetype) == (400, "application/json")
