"""Build the delivery errors that all protocols share."""

from app.engines.sources.model import HostError, HostErrorKind


def build_full_disk_error() -> HostError:
    """Build the error for a host without space for the file, or with an exceeded quota."""
    message = "The disk of the server is full, or a quota is exceeded."
    return HostError(HostErrorKind.NOT_ALLOWED, message)


def build_large_file_error() -> HostError:
    """Build the error for a file that the host does not accept because of its size."""
    message = "The file is larger than the host accepts."
    return HostError(HostErrorKind.NOT_ALLOWED, message)


def build_file_mismatch_error() -> HostError:
    """Build the error for a file whose content differs from its expected size or digest."""
    message = "The stored file is damaged or incomplete, so it was not delivered. Export it again."
    return HostError(HostErrorKind.PROTOCOL, message)


def build_timeout_error() -> HostError:
    """Build the error for a host that receives the file too slowly."""
    message = "The host did not receive the file in time."
    return HostError(HostErrorKind.UNREACHABLE, message)
