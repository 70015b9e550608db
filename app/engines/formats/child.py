"""Write an export file in a separate process: `python -m app.engines.formats.child`.

Standard input has one JSON value per line: first the request with `format`, `fields`, `options` and
`end`, then the tag sets. The last line is the value of `end`. If the input ends without that line,
the caller has stopped, and the file remains incomplete. The file goes to standard output, and
errors go to standard error.
"""

import gc
import os
import sys
from typing import BinaryIO

import orjson

from app.engines.formats import FORMATS
from app.engines.formats.processes import INVALID_ROW

_CALLER_STOPPED = 1
_GC_THRESHOLD = 500_000


def run(lines: BinaryIO, out: BinaryIO) -> int:
    """Write the file, and return the exit status."""
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
            return INVALID_ROW
    return _CALLER_STOPPED


def main() -> int:
    """Run with standard input and output; other code that prints writes to standard error."""
    # Rows contain no reference cycles; searching for cycles would take a quarter of the time.
    gc.freeze()
    gc.set_threshold(_GC_THRESHOLD)
    with os.fdopen(os.dup(1), "wb") as out:
        os.dup2(2, 1)
        return run(sys.stdin.buffer, out)


if __name__ == "__main__":
    sys.exit(main())
