"""Build the delivery errors that all protocols share."""

from collections.abc import Iterator
from contextlib import contextmanager

from app.engines.destinations.model import DestinationError, DestinationErrorKind
from app.engines.sources import ObjectMissing, SourceError


@contextmanager
def translate_source_errors() -> Iterator[None]:
    """Translate the errors of code that is shared with sources to DestinationError."""
    try:
        yield
    except SourceError as error:
        raise convert_source_error(error) from None
    except ObjectMissing:
        raise build_missing_folder_error() from None


def convert_source_error(error: SourceError) -> DestinationError:
    """Convert an error of code that is shared with sources to a DestinationError."""
    return DestinationError(DestinationErrorKind(error.kind.value), error.message)


def build_missing_folder_error() -> DestinationError:
    """Build the error for a folder that does not exist."""
    return DestinationError(DestinationErrorKind.NOT_FOUND, "The folder does not exist.")


def build_full_disk_error() -> DestinationError:
    """Build the error for a host that has no space left."""
    message = "The disk of the server is full, or a quota is exceeded."
    return DestinationError(DestinationErrorKind.NOT_ALLOWED, message)


def build_large_file_error() -> DestinationError:
    """Build the error for a file that the host does not accept because of its size."""
    message = "The file is larger than the host accepts."
    return DestinationError(DestinationErrorKind.NOT_ALLOWED, message)


def build_file_mismatch_error() -> DestinationError:
    """Build the error for a file whose content differs from its expected size or digest."""
    message = "The stored file is damaged or incomplete, so it was not delivered. Export it again."
    return DestinationError(DestinationErrorKind.PROTOCOL, message)


def build_timeout_error() -> DestinationError:
    """Build the error for a host that receives the file too slowly."""
    message = "The host did not receive the file in time."
    return DestinationError(DestinationErrorKind.UNREACHABLE, message)
