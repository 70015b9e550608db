"""Malicious configurations are rejected quickly, and nothing is opened or fetched."""

import socket
import time
from pathlib import Path

import pytest

from app.engines.schema_sources.label_studio import controls, import_state
from app.engines.schema_sources.label_studio.reader import read_label_studio
from app.engines.schema_sources.model import SchemaSourceError
from app.engines.schema_sources.texts import to_line

FIELD = '<TextArea name="a" toName="t"/>'
LOL = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))
BOMBS = {
    "billion laughs": f'<!DOCTYPE V [<!ENTITY l0 "ha">{LOL}]><View>{FIELD}&l9;</View>',
    "in an attribute": f'<!DOCTYPE V [<!ENTITY l0 "ha">{LOL}]><View a="&l9;">{FIELD}</View>',
    "quadratic": f'<!DOCTYPE V [<!ENTITY x "{"x" * 50_000}">]><View>{"&x;" * 50_000}</View>',
    "a file": '<!DOCTYPE V [<!ENTITY x SYSTEM "file:///etc/passwd">]><View>&x;</View>',
    "a host": '<!DOCTYPE V [<!ENTITY x SYSTEM "http://127.0.0.1:9/">]><View>&x;</View>',
    "a parameter": '<!DOCTYPE V [<!ENTITY % p SYSTEM "http://127.0.0.1:9/"> %p;]><View/>',
    "a DTD": f'<!DOCTYPE View SYSTEM "http://127.0.0.1:9/v.dtd"><View>{FIELD}</View>',
    "a public DTD": f'<!DOCTYPE View PUBLIC "-//X//Y" "http://127.0.0.1:9/"><View>{FIELD}</View>',
    "an empty type": f"<!DOCTYPE View><View>{FIELD}</View>",
    "an unknown entity": f"<View>{FIELD}&x;</View>",
    "depth": "<View>" * 100_000,
    "depth that closes": "<View>" * 65 + FIELD + "</View>" * 65,
    "width": "<View>" + "<a/>" * 20_001 + "</View>",
    "attributes": "<View " + " ".join(f'a{n}="1"' for n in range(101)) + f">{FIELD}</View>",
    "size": "<View>" + " " * 5_000_000 + "</View>",
}


@pytest.mark.parametrize("name", BOMBS)
def test_bombs_are_rejected_and_nothing_is_opened(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a file or connection was opened")

    monkeypatch.setattr(socket, "socket", refuse)
    monkeypatch.setattr(Path, "open", refuse)
    monkeypatch.setattr("builtins.open", refuse)
    began = time.thread_time()
    with pytest.raises(SchemaSourceError):
        read_label_studio(BOMBS[name])
    assert time.thread_time() - began < 2


@pytest.mark.parametrize("declared", ["utf-8", "utf-16", "us-ascii", "iso-8859-1"])
def test_the_declared_encoding_of_text_is_ignored(declared: str) -> None:
    label = '<Labels name="a" toName="t"><Label value="Größe"/></Labels>'
    config = f'\ufeff<?xml version="1.0" encoding="{declared}"?>\n<View>{label}</View>'.lstrip(
        "\ufeff"
    )
    (field,) = read_label_studio(config).fields
    assert field["label"] == "Größe"


def test_processing_instructions_are_ignored() -> None:
    config = f'<?xml-stylesheet href="http://127.0.0.1:9/x.xsl"?><View>{FIELD}</View>'
    assert len(read_label_studio(config).fields) == 1


def test_deeply_nested_choices_do_not_multiply_long_values() -> None:
    above = "".join(f'<Choice value="{"x" * 50_000}">' for _ in range(40))
    leaves = "".join(f'<Choice value="{n}"/>' for n in range(15_000))
    config = (
        f'<View><Choices name="a" toName="t">{above}{leaves}{"</Choice>" * 40}</Choices></View>'
    )
    began = time.thread_time()
    (field,) = read_label_studio(config).fields
    assert field["type"] == "choice"
    assert time.thread_time() - began < 5


def test_a_long_name_is_not_read_again_for_each_option(monkeypatch: pytest.MonkeyPatch) -> None:
    char_count = 0

    def count_chars(text: object, limit: int = 200) -> str:
        nonlocal char_count
        char_count += len(str(text))
        return to_line(text, limit)

    for module in (import_state, controls):
        monkeypatch.setattr(module, "to_line", count_chars)
    options = '<Choice value="a"/>' * 1000
    content = f'<View><Choices name="{"n" * 100_000}">{options}</Choices></View>'
    assert len(read_label_studio(content).fields) == 1
    assert char_count < 10 * len(content)
