"""libpq's deadlines. Only the standard library is needed here: the supervisor uses them too."""

from collections.abc import Mapping
from typing import Any

CONNECT_SECONDS = 3
"""A server that accepts a connection and says nothing is given up after so long."""

LIBPQ: Mapping[str, Any] = {
    "connect_timeout": CONNECT_SECONDS,
    # A host that vanished while it owes an answer is noticed by four seconds, as is one that was
    # started again meanwhile. In milliseconds: data that nobody acknowledges.
    "keepalives": 1,
    "keepalives_idle": 2,
    "keepalives_interval": 1,
    "keepalives_count": 2,
    "tcp_user_timeout": 4_000,
}
"""Options of every connection. They say nothing of a server that stands still: its kernel goes on
acknowledging. `guard` is for that."""
