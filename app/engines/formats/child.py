"""Write a file in a process of its own: `python -m app.engines.formats.child`.

The input has one JSON value per line: first the request with `format`, `fields`, `options` and
`end`, then the tag sets. The value of `end` is the last line. The output is the file. If the input
ends without that line, the caller has stopped, and the file remains incomplete. Errors go to the
error output.
"""

import gc
import os
import sys
from typing import BinaryIO

import orjson

from app.engines.formats import FORMATS
from app.engines.formats.processes import INVALID_ROW

_STOPPED = 1
_CYCLE_THRESHOLD = 500_000


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
    return _STOPPED


def main() -> int:
    """Run with the standard input and output; nothing else can write to the output."""
    # Rows contain no reference cycles. Searching them for cycles takes a quarter of the time.
    gc.freeze()
    gc.set_threshold(_CYCLE_THRESHOLD)
    with os.fdopen(os.dup(1), "wb") as out:
        os.dup2(2, 1)
        return run(sys.stdin.buffer, out)


if __name__ == "__main__":
    sys.exit(main())
