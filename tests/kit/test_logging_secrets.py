import json
import logging
from typing import Any

import pytest

from app.kit.logging import configure, get_logger
from tests.kit.conftest import Lines
from tests.kit.test_logging import fail

pytestmark = pytest.mark.usefixtures("json_logs")

SECRET = "hunter2-hunter2-hunter2"


@pytest.mark.parametrize(
    "members",
    [
        {"password": SECRET},
        {"new_password": SECRET},
        {"Authorization": SECRET},
        {"X-API-Key": SECRET},
        {"api_key": SECRET},
        {"access_token": SECRET},
        {"Set-Cookie": SECRET},
        {"client_secret": [SECRET]},
        {"encryption_keys": (SECRET,)},
        {"smtp_url": SECRET},
        {"headers": {"Cookie": SECRET}},
        {"request": [{"body": {"credentials": {"user": SECRET}}}]},
        {"header": f"Authorization: Bearer {SECRET}"},
        {"header": f"basic {SECRET}"},
        {"address": f"postgresql://user:{SECRET}@db/labels"},
        {"address": f"https://example.com/reset?token={SECRET}&x=1"},
        {"text": f'{{"password": "{SECRET}"}}'},
        {"text": "eyJhbGciOiJIUzI1NiJ9." + SECRET + ".c2lnbmF0dXJl"},
        {"error": f"(psycopg2.Error) failed [parameters: ('{SECRET}', 1)]"},
        {"content": SECRET.encode()},
        {"error": ValueError(f"password={SECRET}")},
    ],
)
@pytest.mark.parametrize("form", ["json", "text"])
def test_no_secret_is_ever_written(
    members: dict[str, Any], form: str, capfd: pytest.CaptureFixture[str]
) -> None:
    configure("INFO", form)
    get_logger("app.test").info("request.done", **members)
    written = capfd.readouterr().err
    assert "request.done" in written
    assert SECRET not in written
    assert "[hidden]" in written or "bytes]" in written


@pytest.mark.parametrize(
    "message",
    [
        f"Authorization: Bearer {SECRET}",
        f"'Authorization': '{SECRET}'",
        f"Cookie: a=1; session={SECRET}",
        f"POST /reset?token={SECRET}&x=1",
        f"connecting to redis://:{SECRET}@cache:6379/0",
        f'{{"password": "{SECRET}"}}',
        json.dumps(json.dumps({"password": SECRET})),
        f"X-API-Key={SECRET}",
        f"client_secret = {SECRET}",
    ],
)
def test_no_secret_is_in_messages_of_libraries(
    message: str, capfd: pytest.CaptureFixture[str]
) -> None:
    logging.getLogger("gunicorn.error").warning("said %s", message)
    written = capfd.readouterr().err
    assert SECRET not in written
    assert "[hidden]" in written


def test_secrets_in_the_event_and_in_tracebacks_are_hidden(
    capfd: pytest.CaptureFixture[str],
) -> None:
    log = get_logger("app.test")
    address = f"https://user:{SECRET}@example.com/"
    log.info(address)
    try:
        fail(f"sent Authorization: Bearer {SECRET}")
    except RuntimeError:
        log.exception("request.failed")
        logging.getLogger("sqlalchemy.engine").exception("failed with token=%s", SECRET)
    written = capfd.readouterr().err
    assert SECRET not in written
    assert written.count("Traceback (most recent call last)") == 2
    assert all(json.loads(line)["level"] in ("info", "error") for line in written.splitlines())


def test_names_that_only_say_whether_there_is_a_secret_are_kept(lines: Lines) -> None:
    get_logger("app.test").info("x", has_password=True, token=None)
    (line,) = lines()
    assert (line["has_password"], line["token"]) == (True, None)
