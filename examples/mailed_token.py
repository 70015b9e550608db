"""Print the token in the newest email to an address.

Usage: mailed_token.py FOLDER ADDRESS PATH. FOLDER is the folder of the emails. PATH is the path of
the link with the token, for example confirm-email. Waits up to 30 seconds for the email.
"""

import re
import sys
import time
from email import policy
from email.parser import BytesParser
from pathlib import Path


def find_token(folder: Path, address: str, path: str) -> str | None:
    """Return the token in the newest email to an address with such a link, or None."""
    files = sorted(folder.glob("*.eml"), key=lambda file: file.stat().st_mtime, reverse=True)
    for file in files:
        message = BytesParser(policy=policy.default).parsebytes(file.read_bytes())
        text = message.get_body(("plain",)).get_content()
        link = re.search(rf"/{path}\?token=([\w-]+)", text)
        if message["To"] == address and link:
            return link[1]
    return None


def main() -> int:
    folder, address, path = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
    end = time.monotonic() + 30
    while (token := find_token(folder, address, path)) is None:
        if time.monotonic() > end:
            print(f"No email to {address} has a link to {path}.", file=sys.stderr)
            return 1
        time.sleep(0.2)
    print(token)
    return 0


if __name__ == "__main__":
    sys.exit(main())
