"""Build the errors for requests that S3 or a compatible object store refuses."""

from collections.abc import Mapping
from http import HTTPStatus

from requests import Response

from app.engines.destinations.failures import build_full_disk_error, build_large_file_error
from app.engines.sources import HostError, HostErrorKind
from app.engines.sources.s3_responses import build_code_error, find_error_code

_DAMAGED_FILE = (
    HostErrorKind.PROTOCOL,
    "The file was damaged in transit, so the host did not store it.",
)
_BUSY_HOST = (HostErrorKind.UNREACHABLE, "The host cannot receive the file at the moment.")
_BAD_NAME = (HostErrorKind.NOT_ALLOWED, "The host does not accept the name of the folder or file.")
_REFUSALS: Mapping[str, tuple[HostErrorKind, str]] = {
    "BadDigest": _DAMAGED_FILE,
    "InvalidDigest": _DAMAGED_FILE,
    "XAmzContentSHA256Mismatch": _DAMAGED_FILE,
    "RequestTimeout": _BUSY_HOST,
    "SlowDown": _BUSY_HOST,
    "KeyTooLongError": _BAD_NAME,
    "NoSuchKey": _BAD_NAME,
    "NoSuchUpload": (
        HostErrorKind.PROTOCOL,
        "The host removed the parts of the file before all parts were sent.",
    ),
}
_FULL_DISK_CODES = frozenset({"InsufficientCapacity", "QuotaExceeded", "XMinioStorageFull"})


def build_refusal_error(response: Response) -> HostError:
    """Build the error for a response with an error status."""
    code = find_error_code(response)
    if refusal := _REFUSALS.get(code):
        return HostError(*refusal)
    if code in _FULL_DISK_CODES or response.status_code == HTTPStatus.INSUFFICIENT_STORAGE:
        return build_full_disk_error()
    if code == "EntityTooLarge" or response.status_code == HTTPStatus.REQUEST_ENTITY_TOO_LARGE:
        return build_large_file_error()
    return build_code_error(response, code, action="write to")


def build_unexpected_response_error() -> HostError:
    """Build the error for a response that does not follow the protocol."""
    message = "The host does not respond like an object store, or could not combine the file parts."
    return HostError(HostErrorKind.PROTOCOL, message)
