"""Provide documents that take a long time to read."""

from pathlib import Path

import pytest

from tests.engines.documents import samples


@pytest.fixture
def long_pdf(tmp_path: Path) -> Path:
    """Return the path of a PDF whose pages exceed the capacity of a pipe."""
    lines = ["many words on every line of it " * 3] * 14
    return samples.stored(tmp_path, samples.pdf([lines] * 60), "long.pdf")


@pytest.fixture
def endless_pdf(tmp_path: Path) -> Path:
    return samples.stored(tmp_path, samples.endless_pdf(), "endless.pdf")
