"""Limits for clients: sizes, counts, timeouts and the minimum transfer rate."""

import resource
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from app.kit.api.fields import MAX_FORM_BYTES
from app.kit.settings import Settings

_MAX_JSON_BYTES = 16 * 1024 * 1024
_OTHER_DESCRIPTORS = 512  # for files and sockets other than client connections
_DESCRIPTORS_PER_CONNECTION = 2  # the socket, and the file of a body or of a download


class ServerConfig(Protocol):
    """The settings in gunicorn's configuration that limit clients."""

    worker_connections: int
    limit_request_line: int
    limit_request_fields: int
    limit_request_field_size: int
    keepalive: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientLimits:
    """Limits per connection and per process. Times are in seconds, and sizes are in bytes.

    A client that sends a body or reads a response must transfer at least `bytes_per_second` on
    average. It may fall behind this rate by at most `body_seconds` or `response_seconds`. A faster
    transfer earlier does not increase this allowance.

    Attributes:
        connections: open connections of the process.
        body_bytes: one request body.
        spool_bytes: all request bodies of the process.
        spool_folder: the folder for temporary files of request bodies.
        reserve_bytes: the free disk space below which large request bodies are refused.
        unsent_bytes: all buffered parts of responses that clients have not read.
        line_bytes: the URL in the request line.
        header_bytes: one header, with its name and value.
        headers: the number of headers of a request.
        head_bytes: the request line and all headers.
        idle_seconds: the wait for the next request on a persistent connection.
        head_seconds: the time in which the head of a request must arrive.
        linger_seconds: the wait for the client to close the connection after the last response.
        drain_seconds: when the process stops, the remaining time for a request to arrive.
        idle_drain_seconds: when the process stops, the remaining time of an idle connection.
    """

    connections: int
    body_bytes: int
    spool_bytes: int
    spool_folder: Path
    reserve_bytes: int
    unsent_bytes: int = 64 * 1024 * 1024
    line_bytes: int
    header_bytes: int
    headers: int
    head_bytes: int = 32 * 1024
    idle_seconds: float
    head_seconds: float = 20.0
    body_seconds: float = 20.0
    response_seconds: float = 60.0
    bytes_per_second: int = 1024
    linger_seconds: float = 5.0
    drain_seconds: float = 5.0
    idle_drain_seconds: float = 2.0

    @classmethod
    def from_settings(cls, settings: Settings, config: "ServerConfig") -> "ClientLimits":
        """Return the limits that the service's settings and gunicorn's configuration define."""
        return cls(
            connections=config.worker_connections,
            line_bytes=config.limit_request_line,
            headers=config.limit_request_fields,
            header_bytes=config.limit_request_field_size,
            idle_seconds=config.keepalive,
            body_bytes=max(settings.max_upload_bytes + MAX_FORM_BYTES, _MAX_JSON_BYTES),
            spool_bytes=settings.web_spool_bytes,
            spool_folder=settings.data_dir,
            reserve_bytes=settings.storage_reserve_bytes,
        )


def raise_descriptor_limit(connections: int) -> int:
    """Raise the descriptor limit of this process to allow up to `connections` connections.

    Returns how many connections the new limit allows: at most `connections`, and at least 16.
    """
    soft_limit, hard_limit = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed_descriptors = connections * _DESCRIPTORS_PER_CONNECTION + _OTHER_DESCRIPTORS
    allowed_descriptors = (
        needed_descriptors
        if hard_limit == resource.RLIM_INFINITY
        else min(needed_descriptors, hard_limit)
    )
    if soft_limit != resource.RLIM_INFINITY and soft_limit < allowed_descriptors:
        resource.setrlimit(resource.RLIMIT_NOFILE, (allowed_descriptors, hard_limit))
        soft_limit = allowed_descriptors
    if soft_limit == resource.RLIM_INFINITY or soft_limit >= needed_descriptors:
        return connections
    return max(16, (soft_limit - _OTHER_DESCRIPTORS) // _DESCRIPTORS_PER_CONNECTION)
