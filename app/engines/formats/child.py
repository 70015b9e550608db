"""Write an export file in a separate process: `python -m app.engines.formats.child`.

The first line of standard input is the request: a JSON object with `format`, `fields`, `options`
and `end`. Each following line is a tag set as JSON, and the last line is the text of `end`. If the
last line is missing, the caller has stopped, and the file remains incomplete. The file is written
to standard output, and errors to standard error.
"""

import gc
import os
import sys
from typing import BinaryIO

import orjson

from app.engines.formats import FORMATS

INVALID_ROW_STATUS = 65
"""The exit status of the process if a tag set is invalid; see EX_DATAERR in sysexits.h."""
_CALLER_STOPPED_STATUS = 1
_GC_THRESHOLD = 500_000
_READ_BYTES = 256 << 10


def run(lines: BinaryIO, out: BinaryIO) -> int:
    """Write the tag sets that follow the request in `lines` to `out`; return the exit status."""
    request = orjson.loads(lines.readline())
    writer = FORMATS[request["format"]].create_writer(out, request["fields"], request["options"])
    end = request["end"].encode() + b"\n"
    for line in lines:
        if line == end:
            writer.close()
            out.flush()
            return 0
        try:
            writer.write_json(line)
        except ValueError as error:
            sys.stderr.write(f"{error}\n")
            return INVALID_ROW_STATUS
    return _CALLER_STOPPED_STATUS


def main() -> int:
    """Write the export file for standard input to standard output; return the exit status.

    Anything else that the process prints to standard output goes to standard error.
    """
    # Rows contain no reference cycles; searching for cycles would take a quarter of the time.
    gc.freeze()
    gc.set_threshold(_GC_THRESHOLD)
    # Each read wakes the caller, which waits for space in the pipe; small reads cost much time.
    lines = os.fdopen(sys.stdin.fileno(), "rb", _READ_BYTES, closefd=False)
    with lines, os.fdopen(os.dup(1), "wb") as out:
        os.dup2(2, 1)
        return run(lines, out)


if __name__ == "__main__":
    sys.exit(main())
