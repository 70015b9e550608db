"""Open stored models and check their feature version, without numpy."""

import io
import json
import zipfile
import zlib
from typing import Any

from app.engines.extraction.examples import FEATURE_VERSION
from app.engines.extraction.features import FEATURE_COUNT
from app.engines.extraction.model import InvalidModel

DESCRIPTION_FILE = "model.json"
MAX_BYTES = 256 << 20
"""The maximum size in bytes of an unpacked model."""

READ_ERRORS = (
    *(ValueError, KeyError, TypeError, IndexError, AttributeError, EOFError),
    *(zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError),
)
"""The errors that can occur while reading content that is damaged or not a model."""


def open_content(content: bytes) -> zipfile.ZipFile:
    """Open a model's zip archive.

    Raises InvalidModel if its unpacked size exceeds MAX_BYTES, and one of READ_ERRORS if it is not
    a zip archive.
    """
    archive = zipfile.ZipFile(io.BytesIO(content))
    if sum(info.file_size for info in archive.infolist()) > MAX_BYTES:
        raise InvalidModel(f"The unpacked model has more than {MAX_BYTES:,} bytes.")
    return archive


def read_description(archive: zipfile.ZipFile) -> dict[str, Any]:
    """Read a model's JSON description.

    Raises InvalidModel if the model has a different feature version or number of features, and one
    of READ_ERRORS if the description is missing or damaged.
    """
    description: dict[str, Any] = json.loads(archive.read(DESCRIPTION_FILE))
    if (
        description["feature_version"] != FEATURE_VERSION
        or description["feature_count"] != FEATURE_COUNT
    ):
        raise InvalidModel("The model has a different feature version; retrain it.")
    return description


def check_content(content: bytes) -> None:
    """Raise InvalidModel if the content is not a model, is too large, or has outdated features.

    The arrays are not read. Therefore no numpy is needed, and damaged arrays are not detected.
    """
    try:
        with open_content(content) as archive:
            read_description(archive)
    except READ_ERRORS as error:
        raise InvalidModel("The content is not a model, or is damaged.") from error
