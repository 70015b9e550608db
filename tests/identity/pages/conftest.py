"""Fixtures for the pages that emails link to, and the features behind them."""

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from lxml import html as lxml_html
from werkzeug.test import TestResponse

from tests.factories.emails import SentEmail
from tests.identity.auth.conftest import Person
from tests.identity.auth.conftest import person as person  # noqa: PLC0414 - a fixture
from tests.identity.auth.conftest import register as register  # noqa: PLC0414 - a fixture
from tests.identity.invitations.conftest import workspace as workspace  # noqa: PLC0414 - a fixture

NEW = "another river meets here"


@dataclass
class ShownPage:
    """A page as a visitor sees it."""

    answer: TestResponse

    @cached_property
    def tree(self) -> Any:
        return lxml_html.document_fromstring(self.answer.text)

    @property
    def status(self) -> int:
        return self.answer.status_code

    @property
    def language(self) -> str:
        return str(self.tree.get("lang"))

    @property
    def title(self) -> str:
        return str(self.tree.xpath("string(//title)"))

    @property
    def heading(self) -> str:
        (heading,) = self.tree.xpath("//h1")
        return str(heading.text_content()).strip()

    @property
    def text(self) -> str:
        return " ".join(self.tree.xpath("string(//main)").split())

    @property
    def problems(self) -> list[str]:
        items = self.tree.xpath("//*[@role='alert']//li")
        return [" ".join(item.text_content().split()) for item in items]

    @property
    def has_form(self) -> bool:
        return bool(self.tree.xpath("//form"))

    @property
    def hidden(self) -> dict[str, str]:
        inputs = self.tree.xpath("//input[@type='hidden']")
        return {field.get("name"): field.get("value") for field in inputs}

    def field(self, name: str) -> Any:
        (field,) = self.tree.xpath("//form//input[@id=$name]", name=name)
        return field


@dataclass
class Visitor:
    """A person with a browser."""

    client: FlaskClient

    def open(self, path: str, **kwargs: Any) -> ShownPage:
        return ShownPage(self.client.get(path, **kwargs))

    def send(self, page: ShownPage, *, headers: Any = None, **values: str) -> ShownPage:
        """Fill in the page's form and send it, as a browser does."""
        (form,) = page.tree.xpath("//form")
        assert form.get("method") == "post"
        data = {**page.hidden, **values}
        answer = self.client.post(form.get("action"), data=data, headers=headers)
        return ShownPage(answer)


@pytest.fixture
def visitor(app: Flask) -> Visitor:
    return Visitor(app.test_client())


def link_of(email: SentEmail) -> str:
    """Return the path and query of the link in an email."""
    link = re.search(r"https?://[^/\s]+(/\S+[?&]\S*)", email.text)
    assert link is not None, email.text
    return link[1]


@pytest.fixture
def reset_link(person: Person) -> str:
    """Return the link in an email with which the person can set a new password."""
    person.request_reset_token()
    return link_of(person.get_email("Reset"))
