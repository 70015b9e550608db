"""Limits of time, size and depth for all sources."""

CONNECT_SECONDS = 10.0
IDLE_SECONDS = 30.0
"""The longest silence of a host."""
OPERATION_SECONDS = 120.0
"""Time to sign in, or to list one folder or one page of a listing."""
READ_SECONDS = 900.0
"""Time to receive one document. The time in which the caller handles the chunks does not count,
except for HTTP."""
CHUNK_BYTES = 256 * 1024
MAX_LISTING_BYTES = 16 * 1024 * 1024
"""Maximum size of an index page, or of one page of an object store's listing."""
MAX_DOCUMENT_BYTES = 1 << 40
"""Only a bound: the caller stops reading at its own limit."""
MAX_DEPTH = 64
"""Maximum number of nested folders."""
MAX_NAME_BYTES = 8 * 1024
"""Longer names are not listed. No file system and no object store has them."""
MAX_URL = 2048
"""The guarded session refuses longer URLs."""
MAX_REDIRECTS = 5
SORT_ITEMS = 10_000
"""Number of entries of a folder that are sorted in memory."""
