"""Error messages for failed deliveries, shared by all protocols."""

from collections.abc import Iterator
from contextlib import contextmanager

from app.engines.destinations.model import DestinationError, DestinationErrorKind
from app.engines.sources import ObjectMissing, SourceError


@contextmanager
def translate_source_errors() -> Iterator[None]:
    """Raise DestinationError instead of the errors of the shared protocol code."""
    try:
        yield
    except SourceError as error:
        raise convert_error(error) from None
    except ObjectMissing:
        raise describe_missing_folder() from None


def convert_error(error: SourceError) -> DestinationError:
    """Convert an error of the shared protocol code to an error of a destination."""
    return DestinationError(DestinationErrorKind(error.kind.value), error.message)


def describe_missing_folder() -> DestinationError:
    """Return the error for a folder that does not exist."""
    return DestinationError(DestinationErrorKind.NOT_FOUND, "The folder does not exist.")


def describe_full_disk() -> DestinationError:
    """Return the error for a host that has no space left."""
    message = "The disk of the server is full, or a quota is used up."
    return DestinationError(DestinationErrorKind.NOT_ALLOWED, message)


def describe_large_file() -> DestinationError:
    """Return the error for a file that the host does not accept because of its size."""
    message = "The file is larger than the host accepts."
    return DestinationError(DestinationErrorKind.NOT_ALLOWED, message)


def describe_changed_file() -> DestinationError:
    """Return the error for a file whose content differs from its announced size or digest."""
    message = "The stored file is damaged or incomplete, so it was not delivered. Export it again."
    return DestinationError(DestinationErrorKind.PROTOCOL, message)


def describe_slowness() -> DestinationError:
    """Return the error for a host that receives the file too slowly."""
    message = "The host did not take the file in time."
    return DestinationError(DestinationErrorKind.UNREACHABLE, message)
