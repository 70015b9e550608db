"""Checks of the server URLs in the settings, made with the libraries that use the URLs.

Without these checks, the service would start, and each request or job would fail.
"""

from importlib import import_module
from importlib.util import find_spec
from urllib.parse import parse_qsl, urlsplit

from app.kit.settings import Settings, SettingsError


def check(settings: Settings) -> None:
    """Check the URLs of the database, Redis and the storage, if they are set, without connecting.

    Raises SettingsError if a URL cannot be used. Its messages contain no values of options, because
    these may be passwords.
    """
    urls = (
        ("DATABASE_URL", settings.database_url, _find_database_problem),
        ("REDIS_URL", settings.redis_url, _find_redis_problem),
        ("STORAGE_URL", settings.storage_url, _find_storage_problem),
    )
    problems = [
        f"{name} {problem}"
        for name, url, find_problem in urls
        if url and (problem := find_problem(url))
    ]
    if problems:
        raise SettingsError(problems)


def _find_database_problem(url: str) -> str | None:
    # Imported only here, because the supervisor of `make run` loads few packages. It does not call
    # this function if it starts the database itself.
    psycopg2 = import_module("psycopg2")
    make_dsn = import_module("psycopg2.extensions").make_dsn
    for option in _list_options(url):
        try:
            make_dsn(**{option: ""})
        except psycopg2.ProgrammingError:
            return f"has an option that libpq does not have: {option}"
    return None


def _find_redis_problem(url: str) -> str | None:
    redis = import_module("redis")
    try:
        redis.ConnectionPool.from_url(url).make_connection()
    except (TypeError, ValueError, redis.RedisError):
        options = ", ".join(_list_options(url)) or "none"
        return f"has an unknown or malformed option (its options: {options})"
    return None


def _find_storage_problem(url: str) -> str | None:
    protocol = urlsplit(url).scheme
    if protocol == "file":
        return None
    # Only installations with an object store need fsspec.
    implementation = import_module("fsspec.registry").known_implementations.get(protocol)
    if implementation is None:
        return f"begins with {protocol}://, which fsspec does not support"
    package = implementation["class"].partition(".")[0]
    return None if find_spec(package) else f"needs the package {package}, which is not installed"


def _list_options(url: str) -> list[str]:
    return [name for name, _ in parse_qsl(urlsplit(url).query, keep_blank_values=True)]
