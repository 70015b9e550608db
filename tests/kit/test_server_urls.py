"""URLs of servers that the service refuses before it starts."""

from pathlib import Path

import pytest

from app.factory import create_app
from app.kit import server_urls
from app.kit.settings import Settings, SettingsError
from devserver.environment import read_settings
from tests.kit.test_settings import GOOD


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("DATABASE_URL", "postgresql://u@db/labels?sslmod=hunter22", "not have: sslmod$"),
        ("DATABASE_URL", "postgresql://u@db/labels?sslmode=require&ssl=hunter22", "not have: ssl$"),
        ("REDIS_URL", "redis://cache/0?hunter=hunter22", "options: hunter\\)$"),
        ("REDIS_URL", "redis://cache/0?socket_timeout=hunter22", "options: socket_timeout\\)$"),
        ("REDIS_URL", "rediss://cache/0?ssl_cert_reqs=hunter22", "options: ssl_cert_reqs\\)$"),
        ("STORAGE_URL", "s4://hunter22/files", "s4://, which fsspec does not support$"),
        ("STORAGE_URL", "box://hunter22", "needs the package boxfs, which is not installed$"),
    ],
)
def test_the_service_does_not_start_with_a_url_that_it_cannot_use(
    name: str, value: str, says: str, tmp_path: Path
) -> None:
    with pytest.raises(SettingsError, match=says) as caught:
        create_app({**GOOD, name: value})
    (problem,) = caught.value.problems
    assert problem.startswith(f"{name} ")
    assert "hunter22" not in problem
    # `make run` says it before it starts its own servers.
    with pytest.raises(SettingsError, match=says):
        read_settings({**GOOD, "DATA_DIR": str(tmp_path), name: value})


def test_options_that_the_libraries_know_are_accepted() -> None:
    urls = {
        "DATABASE_URL": "postgresql://u:50%@/labels?host=a:1&host=b:2&sslmode=verify-full",
        "REDIS_URL": "rediss://:50%@cache/0?ssl_ca_certs=/etc/ca.pem&socket_timeout=3",
        "STORAGE_URL": "s3://bucket/files?endpoint_url=https://minio.example.com",
    }
    server_urls.check(Settings.from_env({**GOOD, **urls}))
    server_urls.check(Settings.from_env({**GOOD, "REDIS_URL": "unix:///run/valkey.sock?db=1"}))
