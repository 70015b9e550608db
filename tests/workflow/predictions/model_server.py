"""A model server that speaks the protocol of chat completions, in one of several moods.

Prints its port, and serves until it is killed.
"""

import json
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

VALUES = {
    "number": "A-17",
    "total": "EUR 1250.50",
    "issued": "2026-03-03",
    "paid": False,
    "lines": [{"item": "Anchor"}, {"item": "Rope"}],
}
MADE_UP = {**VALUES, "number": "B-99", "total": "EUR 7", "lines": [{"item": "Sail"}]}
BEHAVIOR = sys.argv[1]
ANSWERED = 0


def _complete(content: str) -> bytes:
    answer = {
        "model": "small\0-2026" if BEHAVIOR == "nul" else "small-2026",
        "choices": [{"message": {"role": "assistant", "content": content}}],
        "usage": {"prompt_tokens": 120, "completion_tokens": 30},
    }
    return json.dumps(answer).encode()


class Handler(BaseHTTPRequestHandler):
    """Checks a request and answers it."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        """Answer a chat completion."""
        global ANSWERED  # noqa: PLW0603 - a server of its own
        ANSWERED += 1
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        schema = request["response_format"]["json_schema"]["schema"]
        assert self.path == "/v1/chat/completions"
        assert sorted(schema["required"]) == sorted(schema["properties"])
        assert "A-17" in request["messages"][1]["content"]
        if self.headers["Authorization"] != "Bearer sk-right" or BEHAVIOR == "refuses":
            self._answer(401, b"{}")
        elif BEHAVIOR == "never":
            time.sleep(3600)
        elif BEHAVIOR == "busy_once" and ANSWERED == 1:
            self._answer(503, b"{}")
        elif BEHAVIOR == "busy_for_minutes" and ANSWERED == 1:
            self._answer(429, b"{}", **{"Retry-After": "240"})
        elif BEHAVIOR == "prose":
            self._answer(200, _complete("Certainly! The number of the invoice is A-17."))
        elif BEHAVIOR == "huge":
            self._answer(200, _complete(json.dumps({"number": "x" * 50 * 2**20})))
        elif BEHAVIOR == "largest":
            self._answer(200, _complete(json.dumps(VALUES)).ljust(2 * 2**20))
        elif BEHAVIOR == "nonsense":
            self._answer(
                200, _complete(json.dumps({"number": {"a": 1}, "total": [[]], "lines": 7}))
            )
        elif BEHAVIOR == "made_up":
            self._answer(200, _complete(json.dumps(MADE_UP)))
        else:
            self._answer(200, _complete(json.dumps(VALUES)), slow=BEHAVIOR == "slow")

    def _answer(self, status: int, body: bytes, *, slow: bool = False, **headers: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        for part in (body[:20], body[20:]) if slow else (body,):
            self.wfile.write(part)
            self.wfile.flush()
            if slow:
                time.sleep(0.3)

    def log_message(self, *_: Any) -> None:
        """Stay quiet."""


with ThreadingHTTPServer(("127.0.0.2", 0), Handler) as server:
    print(server.server_port, flush=True)  # noqa: T201 - for whoever started it
    server.serve_forever()
