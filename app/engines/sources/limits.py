"""Limits for time, size and depth in all sources."""

CONNECT_SECONDS = 10.0
IDLE_SECONDS = 30.0
"""The maximum time in which a host sends nothing."""
OPERATION_SECONDS = 120.0
"""The maximum time to sign in, to list one folder, or to list one page of a listing."""
READ_SECONDS = 900.0
"""The maximum time to receive one document. The time in which the caller handles the chunks counts
only for HTTP."""
CHUNK_BYTES = 256 * 1024
MAX_LISTING_BYTES = 16 * 1024 * 1024
"""The maximum size of an index page, or of one page of an object store's listing."""
MAX_DOCUMENT_BYTES = 1 << 40
"""An upper bound for HTTP: callers stop reading at a lower limit."""
MAX_DEPTH = 64
"""The maximum number of nested folders."""
MAX_NAME_BYTES = 8 * 1024
"""Longer names are not listed. No file system and no object store allows longer names."""
MAX_URL = 2048
"""The guarded session refuses longer URLs."""
MAX_REDIRECTS = 5
SORT_ITEMS = 10_000
"""The maximum number of entries of a folder that are sorted in memory."""
