"""The token in the newest letter to an address, read from the folder of letters.

Usage: mailed_token.py FOLDER ADDRESS PATH, where PATH is the link's, for instance confirm-email.
Waits up to 30 seconds for the worker to write the letter.
"""

import re
import sys
import time
from email import policy
from email.parser import BytesParser
from pathlib import Path


def newest(folder: Path, address: str, path: str) -> str | None:
    files = sorted(folder.glob("*.eml"), key=lambda file: file.stat().st_mtime, reverse=True)
    for file in files:
        letter = BytesParser(policy=policy.default).parsebytes(file.read_bytes())
        text = letter.get_body(("plain",)).get_content()
        found = re.search(rf"/{path}\?token=([\w-]+)", text)
        if letter["To"] == address and found:
            return found[1]
    return None


def main() -> int:
    folder, address, path = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
    end = time.monotonic() + 30
    while (token := newest(folder, address, path)) is None:
        if time.monotonic() > end:
            print("no such letter", file=sys.stderr)
            return 1
        time.sleep(0.2)
    print(token)
    return 0


if __name__ == "__main__":
    sys.exit(main())
