"""A key is in no log line, however it comes by; its prefix may be."""

from collections.abc import Iterator

import pytest

from app.identity.api_keys import queries
from app.kit.logging import configure, get_logger
from tests.factories import Org
from tests.factories.orgs import Api

KEY = "dl_Ab12Cd34Ef56" + "s3cr3tS3CR3T" * 3 + "s3cr3t0"
SECRET = KEY[15:]


@pytest.fixture(autouse=True)
def _debug_logging() -> Iterator[None]:
    configure("DEBUG", "json")
    yield
    configure("WARNING", "json")


@pytest.mark.parametrize(
    "text", [KEY, f"X-API-Key: {KEY}", f"GET /x?key={KEY}&y=1", f"('{KEY}',)", f"abc_{KEY}"]
)
def test_a_key_in_any_text_is_cut_to_its_prefix(
    text: str, capfd: pytest.CaptureFixture[str]
) -> None:
    get_logger("app.test").info(text, what=text, many=[{"inner": text}])
    get_logger("app.test").error("failed", exc_info=ValueError(text))
    written = capfd.readouterr().err
    assert written.count("failed") == 1
    assert SECRET[:8] not in written
    assert "[hidden]" in written


def test_requests_with_a_key_leave_it_out(
    org: Org, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    key = org.key("viewer").key
    assert key is not None
    api = Api(org.app.test_client(), None, None, key)
    assert api.get("/artifacts").status_code == 200
    assert api.get(f"/artifacts?{key}={key}").status_code == 422
    assert api.get(f"/artifacts/{key}", headers={"X-Request-ID": key}).status_code == 404

    def fail(prefix: str) -> None:
        raise RuntimeError(f"no row for {prefix} of {key}")

    monkeypatch.setattr(queries, "find_by_prefix", fail)
    assert api.get("/artifacts").status_code == 500
    written = capfd.readouterr().err
    assert "request.failed" in written
    assert written.count('"event":"request"') >= 4
    assert key[:15] in written
    assert key[15:] not in written
    assert key[15:30] not in written
