"""Define the limits that sources share, for example for time, size and depth."""

CONNECT_SECONDS = 10.0
IDLE_SECONDS = 30.0
"""The maximum time to wait for the next bytes from a host."""
OPERATION_SECONDS = 120.0
"""The maximum time to sign in, to list one folder, or to request one page of a listing."""
READ_SECONDS = 900.0
"""The maximum time to receive one document. For HTTP only, this includes the time in which the
caller processes the chunks."""
SKIP_SECONDS = 3600.0
"""The maximum time to read empty pages of a listing. It is also the maximum time to search for the
position at which an earlier listing stopped, if the store cannot start a listing after a name."""
CHUNK_BYTES = 256 * 1024
MAX_LISTING_BYTES = 16 * 1024 * 1024
"""The maximum size of an index page, or of one page of an object store's listing."""
MAX_DOCUMENT_BYTES = 1 << 40
"""The maximum size of a document from an HTTP host. Callers stop reading at a lower limit."""
MAX_DEPTH = 64
"""The maximum number of nested folders."""
MAX_NAME_BYTES = 8 * 1024
"""The maximum length of a name; documents with longer names are not listed.

File systems and object stores do not allow longer names."""
MAX_START_CHARS = 512
"""The maximum percent-encoded length of the name after which a listing starts. The URL also has a
prefix and the token for a page, which may contain another name."""
MAX_URL_CHARS = 2048
"""The maximum length of a URL; the guarded session refuses longer URLs."""
MAX_REDIRECTS = 5
MAX_SORTED_ITEMS = 10_000
"""The maximum number of folder items that are sorted in memory at a time."""
MAX_SORT_FILES = 500
"""The maximum number of temporary files, of up to MAX_SORTED_ITEMS items each, to sort a folder."""
MAX_SORT_BYTES = 1024 * 1024 * 1024
"""The maximum total size of the temporary files with which a folder is sorted on disk."""
