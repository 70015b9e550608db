import re
from base64 import urlsafe_b64encode
from dataclasses import fields
from hashlib import sha256
from ipaddress import ip_network
from pathlib import Path

import pytest

from app.kit.settings import Settings, SettingsError

KEY, OTHER_KEY = (urlsafe_b64encode(sha256(name).digest()).decode() for name in (b"a", b"b"))
GOOD = {
    "SECRET_KEY": "q7Vw2mZr9tYb4nLx8cKd5fHg3jPs6aUe",
    "ENCRYPTION_KEYS": KEY,
    "DATABASE_URL": "postgresql://user:hunter22@db.internal:5432/labels",
    "REDIS_URL": "redis://:hunter22@cache.internal:6379/0",
}
DOCS = Path(__file__).resolve().parents[2] / "docs" / "operators" / "settings.md"


def list_problems(environ: dict[str, str], *, require_servers: bool = True) -> list[str]:
    """Return the problems of invalid settings, which the text of the error also lists."""
    with pytest.raises(SettingsError) as caught:
        Settings.from_env(environ, require_servers=require_servers)
    assert all(problem in str(caught.value) for problem in caught.value.problems)
    return caught.value.problems


def read(**changes: str) -> Settings:
    return Settings.from_env({**GOOD, **changes})


def test_documentation_names_exactly_the_settings() -> None:
    documented = re.findall(r"^\| `([A-Z_]+)` \|", DOCS.read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(documented) == sorted(field.name.upper() for field in fields(Settings))


def test_documented_plain_defaults_are_the_real_ones() -> None:
    rows = re.findall(r"^\| `([A-Z_]+)` \| `([^`]+)` \|", DOCS.read_text(encoding="utf-8"), re.M)
    derived = {"PUBLIC_URL": "http://127.0.0.1:8000", "DATA_DIR": str(Path("data").absolute())}
    derived["STORAGE_URL"] = f"file://{Path('data').absolute()}/files"
    defaults = Settings()
    for name, documented in rows:
        value = getattr(defaults, name.lower())
        if isinstance(value, bool):
            value = "on" if value else "off"
        elif isinstance(value, tuple):
            value = ",".join(str(item) for item in value)
        assert str(value) == derived.get(name, documented), name


def test_defaults_fill_what_is_absent_or_blank() -> None:
    settings = read(PORT="", HOST="  ", STORAGE_URL="")
    assert (settings.host, settings.port, settings.access_token_hours) == ("127.0.0.1", 8000, 8)
    assert settings.webhook_retry_delays == (30, 120, 300)
    assert settings.storage_url == f"file://{settings.data_dir}/files"
    assert settings.data_dir.is_absolute()
    assert settings.public_url == "http://127.0.0.1:8000"
    assert settings.rate_limits is True
    assert settings.demo is False


@pytest.mark.parametrize(
    ("host", "url"),
    [
        ("0.0.0.0", "http://localhost:81"),
        ("::", "http://localhost:81"),
        ("::1", "http://[::1]:81"),
        ("labels.internal", "http://labels.internal:81"),
    ],
)
def test_public_url_follows_host_and_port(host: str, url: str) -> None:
    assert read(HOST=host, PORT="81").public_url == url


def test_given_values_are_read() -> None:
    settings = read(
        CORS_ORIGINS="https://a.example, http://b.example:8080 ,",
        EGRESS_ALLOWED_NETWORKS="10.1.0.0/16,fd00::/8,127.0.0.2",
        WEBHOOK_RETRY_DELAYS="1, 2,3",
        RATE_LIMITS="Off",
        WEBHOOK_ALLOW_HTTP="yes",
        LOG_LEVEL="debug",
        PUBLIC_URL="https://labels.example/",
        MAIL_FROM="ops@example.com",
        DATA_DIR="/srv/labels",
        ENCRYPTION_KEYS=f"{KEY},{OTHER_KEY}",
    )
    assert settings.cors_origins == ("https://a.example", "http://b.example:8080")
    assert settings.egress_allowed_networks == tuple(
        map(ip_network, ["10.1.0.0/16", "fd00::/8", "127.0.0.2/32"])
    )
    assert settings.webhook_retry_delays == (1, 2, 3)
    assert (settings.rate_limits, settings.webhook_allow_http) == (False, True)
    assert settings.log_level == "DEBUG"
    assert settings.public_url == "https://labels.example"
    assert settings.storage_url == "file:///srv/labels/files"
    assert len(settings.encryption_keys) == 2


@pytest.mark.parametrize("scheme", ["postgres", "postgresql", "postgresql+psycopg2"])
def test_database_url_has_a_libpq_and_a_sqlalchemy_form(scheme: str) -> None:
    settings = read(DATABASE_URL=f"{scheme}://user:p%40w@db:5432/labels?sslmode=require")
    assert settings.database_url == "postgresql://user:p%40w@db:5432/labels?sslmode=require"
    assert settings.sqlalchemy_url == (
        "postgresql+psycopg2://user:p%40w@db:5432/labels?sslmode=require"
    )


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("PORT", "99999", "from 1 to 65535"),
        ("PORT", "0", "from 1 to 65535"),
        ("PORT", "8_000", "whole number"),
        ("PORT", "٨٠", "whole number"),
        ("PORT", "9" * 5000, "whole number"),
        ("HOST", "http://here", "without port or path"),
        ("RATE_LIMITS", "maybe", "on or off"),
        ("EGRESS_ALLOWED_NETWORKS", "10.0.0.1/8", "host bits"),
        ("EGRESS_ALLOWED_NETWORKS", "internal", "10.1.0.0/16"),
        ("WEBHOOK_RETRY_DELAYS", "30,120", "three whole numbers"),
        ("WEBHOOK_RETRY_DELAYS", "30,120,300,600", "three whole numbers"),
        ("WEBHOOK_RETRY_DELAYS", "30,0,300", "three whole numbers"),
        ("REGISTRATION", "closed", "open, invite"),
        ("DEFAULT_PLAN", "gold", "enterprise"),
        ("LOG_LEVEL", "LOUD", "WARNING"),
        ("LOG_FORMAT", "xml", "json, text"),
        ("CORS_ORIGINS", "https://a.example/path", "origins"),
        ("CORS_ORIGINS", "*,https://a.example", "must start with"),
        ("PUBLIC_URL", "https://a.example/?q=1", "nothing more"),
        ("PUBLIC_URL", "http://[::1", "not a URL"),
        ("MAIL_FROM", "a@example.com, b@example.com", "address"),
        ("TRUSTED_PROXIES", "-1", "from 0"),
        ("MAX_UPLOAD_BYTES", "100MB", "whole number"),
        ("STORAGE_RESERVE_BYTES", "-1", "from 0"),
    ],
)
def test_refused_values_are_named_with_what_is_allowed(name: str, value: str, says: str) -> None:
    (problem,) = list_problems({**GOOD, name: value})
    assert problem.startswith(f"{name} ")
    assert says in problem
    assert value[:100] in problem


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("DATABASE_URL", "mysql://user:hunter22@db/labels", "postgresql://"),
        ("DATABASE_URL", "postgresql://user:hunter22@db", "name a database"),
        ("DATABASE_URL", "postgresql://user:hunter22@db:port/labels", "port"),
        ("REDIS_URL", "http://:hunter22@cache", "redis://"),
        ("REDIS_URL", "redis://", "name a host"),
        ("SMTP_URL", "hunter22", "smtp://"),
        ("SMTP_URL", "smtp://user:hunter22@mail?tls=1", "no other option"),
        ("SMTP_URL", "smtp://user:hunter22@mail?starttls", "starttls must be on or off"),
        ("SMTP_URL", "smtp://user:hunter22@mail?starttls=hunter22", "starttls must be on or off"),
        ("STORAGE_URL", "file://hunter22/files", "absolute path"),
        ("STORAGE_URL", "/hunter22", "file:///"),
        ("SECRET_KEY", "hunter22", "too short"),
        ("SECRET_KEY", "change-me-change-me-change-me-hunter22", "well-known"),
        ("SECRET_KEY", "hunter22" * 5, "guessable"),
        ("ENCRYPTION_KEYS", f"{KEY},hunter22", "key 2 of 2"),
        ("ENCRYPTION_KEYS", "A" * 43 + "=", "not random"),
        ("CONTROL_PLANE_TOKEN", "hunter22", "32 random"),
        ("METRICS_TOKEN", "hunter22", "32 random"),
        ("DEMO_PASSWORD", "hunter22", "10 characters"),
    ],
)
def test_messages_never_show_a_secret(name: str, value: str, says: str) -> None:
    (problem,) = list_problems({**GOOD, name: value})
    assert problem.startswith(f"{name} ")
    assert says in problem
    assert "hunter22" not in problem
    assert KEY not in problem


def test_every_problem_is_listed_at_once() -> None:
    problems = list_problems({"PORT": "x", "LOG_LEVEL": "x", "SECRET_KEY": "x"})
    assert sorted(problem.split()[0] for problem in problems) == [
        "DATABASE_URL", "ENCRYPTION_KEYS", "LOG_LEVEL", "PORT", "REDIS_URL", "SECRET_KEY",
    ]  # fmt: skip


def test_supervisor_needs_no_server_addresses_but_keys_outside_the_demo() -> None:
    keys = {name: GOOD[name] for name in ("SECRET_KEY", "ENCRYPTION_KEYS")}
    assert Settings.from_env(keys, require_servers=False).database_url == ""
    assert len(list_problems({}, require_servers=False)) == 2


def test_demo_supervisor_starts_from_nothing_but_the_demo_application_does_not() -> None:
    settings = Settings.from_env({"DEMO": "on"}, require_servers=False)
    assert (settings.secret_key, settings.encryption_keys) == ("", ())
    assert read(DEMO="on", SECRET_KEY="short").secret_key == "short"
    assert {problem.split()[0] for problem in list_problems({"DEMO": "on"})} == set(GOOD)


def test_repr_shows_no_secret() -> None:
    settings = read(SMTP_URL="smtp://u:hunter22@mail", CONTROL_PLANE_TOKEN=GOOD["SECRET_KEY"][::-1])
    shown = repr(settings)
    assert "hunter22" not in shown
    for secret in (KEY, GOOD["SECRET_KEY"], settings.control_plane_token):
        assert secret not in shown
