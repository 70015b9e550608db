"""libpq timeouts. This module imports only the standard library, to keep the supervisor small."""

from collections.abc import Mapping
from typing import Any

CONNECT_SECONDS = 3
"""The timeout in seconds to connect, including the time in which the server must respond."""

LIBPQ_TIMEOUTS: Mapping[str, Any] = {
    "connect_timeout": CONNECT_SECONDS,
    # A host that disappears or restarts during a statement is detected within four seconds. The
    # user timeout, in milliseconds, limits how long sent data may stay unacknowledged.
    "keepalives": 1,
    "keepalives_idle": 2,
    "keepalives_interval": 1,
    "keepalives_count": 2,
    "tcp_user_timeout": 4_000,
}
"""libpq options for every connection. They do not detect a server process that hangs, because its
kernel still acknowledges data. `guard` detects this case."""
