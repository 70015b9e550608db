"""What the supervisor adds to the caller's environment."""

import base64
import json
import stat

import pytest

from app.kit.settings import SettingsError
from devserver import environment

KEY = "uYx3kQpw7ZrT9vBnM2sLd8FgHj4KeWc1"
FERNET = base64.urlsafe_b64encode(bytes(range(32))).decode()


def children(environ):
    settings = environment.read_settings(environ)
    settings.data_dir.mkdir(parents=True, exist_ok=True)
    return environment.build_child_environment(environ, settings)


def test_demo_mode_is_on_unless_it_is_switched_off(tmp_path):
    assert environment.read_settings({"DATA_DIR": str(tmp_path)}).demo
    assert environment.read_settings({"DATA_DIR": str(tmp_path), "DEMO": " "}).demo
    off = {"DEMO": "off", "SECRET_KEY": KEY, "ENCRYPTION_KEYS": FERNET}
    assert not environment.read_settings(off).demo


def test_only_what_is_missing_is_made(tmp_path):
    env = children({"DATA_DIR": str(tmp_path), "SECRET_KEY": KEY, "COLOUR": "green"})
    assert env["SECRET_KEY"] == KEY
    assert env["COLOUR"] == "green"
    assert len(base64.urlsafe_b64decode(env["ENCRYPTION_KEYS"])) == 32
    assert len(env["METRICS_TOKEN"]) >= 32
    kept = tmp_path / "secrets.env"
    assert KEY not in kept.read_text()
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600


def test_what_was_made_stays_when_more_is_needed_later(tmp_path):
    base = {"DATA_DIR": str(tmp_path)}
    first = children(base | {"DEMO_PASSWORD": "given by hand"})
    second = children(base)
    assert second["SECRET_KEY"] == first["SECRET_KEY"]
    assert second["ENCRYPTION_KEYS"] == first["ENCRYPTION_KEYS"]
    assert second["METRICS_TOKEN"] == first["METRICS_TOKEN"]
    assert second["DEMO_PASSWORD"] != "given by hand"
    assert children(base) == second


def test_nothing_is_made_outside_demo_mode(tmp_path):
    env = children(
        {"DATA_DIR": str(tmp_path), "DEMO": "off", "SECRET_KEY": KEY, "ENCRYPTION_KEYS": FERNET}
    )
    assert "DEMO_PASSWORD" not in env
    assert "METRICS_TOKEN" not in env
    assert list(tmp_path.iterdir()) == []


def test_leaving_demo_mode_names_the_file_with_the_keys(tmp_path):
    children({"DATA_DIR": str(tmp_path)})
    with pytest.raises(SettingsError, match=r"generated keys; they are in .*secrets\.env"):
        environment.read_settings({"DATA_DIR": str(tmp_path), "DEMO": "off"})


def test_children_get_an_absolute_data_dir(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert children({"DATA_DIR": "here"})["DATA_DIR"] == str(tmp_path / "here")


def test_the_record_is_private_and_goes_with_the_service(tmp_path):
    record = environment.RunRecord(tmp_path)
    assert record.read() == {}
    record.write({"API": 7}, {"DATABASE_URL": "postgresql://ü", "OTHER": "x"})
    file = tmp_path / "running.json"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert json.loads(file.read_text()) == record.read()
    assert record.read()["children"] == {"API": 7}
    assert record.read()["environment"] == {"DATABASE_URL": "postgresql://ü"}
    record.remove()
    record.remove()
    assert record.read() == {}
