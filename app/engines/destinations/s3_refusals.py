"""Error messages for refusals by S3 and by compatible object stores."""

from collections.abc import Mapping
from http import HTTPStatus

from requests import Response

from app.engines.destinations.failures import (
    convert_error,
    describe_full_disk,
    describe_large_file,
)
from app.engines.destinations.model import DestinationError, DestinationErrorKind
from app.engines.sources.s3_answers import describe_code, find_code

_DAMAGED_FILE = (
    DestinationErrorKind.PROTOCOL,
    "The file was damaged on its way to the host, which did not store it.",
)
_BUSY_HOST = (DestinationErrorKind.UNREACHABLE, "The host cannot take the file at the moment.")
_BAD_NAME = (
    DestinationErrorKind.NOT_ALLOWED,
    "The host does not accept the name of the folder or file.",
)
_REFUSALS: Mapping[str, tuple[DestinationErrorKind, str]] = {
    "BadDigest": _DAMAGED_FILE,
    "InvalidDigest": _DAMAGED_FILE,
    "XAmzContentSHA256Mismatch": _DAMAGED_FILE,
    "RequestTimeout": _BUSY_HOST,
    "SlowDown": _BUSY_HOST,
    "KeyTooLongError": _BAD_NAME,
    "NoSuchKey": _BAD_NAME,
    "NoSuchUpload": (
        DestinationErrorKind.PROTOCOL,
        "The host removed the parts of the file before all parts were sent.",
    ),
}
_FULL_CODES = frozenset({"InsufficientCapacity", "QuotaExceeded", "XMinioStorageFull"})


def describe_refusal(response: Response) -> DestinationError:
    """Return the error for a response with an error status."""
    code = find_code(response)
    if refusal := _REFUSALS.get(code):
        return DestinationError(*refusal)
    if code in _FULL_CODES or response.status_code == HTTPStatus.INSUFFICIENT_STORAGE:
        return describe_full_disk()
    if code == "EntityTooLarge" or response.status_code == HTTPStatus.REQUEST_ENTITY_TOO_LARGE:
        return describe_large_file()
    return convert_error(describe_code(response, code, action="write to"))


def describe_unexpected_answer() -> DestinationError:
    """Return the error for an answer that does not follow the protocol."""
    message = "The host does not answer like an object store, or could not put the parts together."
    return DestinationError(DestinationErrorKind.PROTOCOL, message)
