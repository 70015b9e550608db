"""Open the content of trained models and check their version, without numpy."""

import io
import json
import zipfile
import zlib
from typing import Any

from app.engines.extraction.examples import FEATURE_VERSION
from app.engines.extraction.features import COUNT
from app.engines.extraction.model import InvalidModel

DESCRIPTION = "model.json"
MAX_BYTES = 256 << 20
"""The maximum size of a model, unpacked."""

UNREADABLE = (
    *(ValueError, KeyError, TypeError, IndexError, AttributeError, EOFError),
    *(zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError),
)
"""The errors of reading content that is damaged, or that is not a model."""


def open_content(content: bytes) -> zipfile.ZipFile:
    """Return the archive of a model. Raises InvalidModel if it is too large."""
    archive = zipfile.ZipFile(io.BytesIO(content))
    if sum(info.file_size for info in archive.infolist()) > MAX_BYTES:
        raise InvalidModel("The model is too large.")
    return archive


def read_description(archive: zipfile.ZipFile) -> dict[str, Any]:
    """Return the JSON of a model. Raises InvalidModel if it has another feature version."""
    described: dict[str, Any] = json.loads(archive.read(DESCRIPTION))
    if described["feature_version"] != FEATURE_VERSION or described["feature_count"] != COUNT:
        raise InvalidModel("The model has another feature version; train it again.")
    return described


def check_content(content: bytes) -> None:
    """Raise InvalidModel if the content is no model or has another feature version."""
    try:
        with open_content(content) as archive:
            read_description(archive)
    except UNREADABLE as error:
        raise InvalidModel("The content is not a model.") from error
