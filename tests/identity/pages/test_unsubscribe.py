"""The page that turns off emails, and the one-click request of mail programs (RFC 8058)."""

import re
from collections.abc import Callable
from urllib.parse import parse_qs, urlsplit

import pytest

from app.identity.users import unsubscribing
from app.kit.ids import uuid7
from tests.factories import Org
from tests.factories.emails import list_messages_to
from tests.factories.mail import get_body
from tests.factories.workspace import Workspace
from tests.identity.pages.conftest import Visitor

FORM = "application/x-www-form-urlencoded"
MULTIPART = (
    b'--b\r\nContent-Disposition: form-data; name="List-Unsubscribe"\r\n\r\nOne-Click\r\n--b--\r\n'
)


def _link(org: Org, *kinds: str, name: str = "labeler", lang: str = "en") -> str:
    with org.app.app_context():
        token = unsubscribing.build_token(org.users[name], kinds or ("mention",))
    return f"/unsubscribe?token={token}&lang={lang}"


def _emails_on(org: Org, name: str = "labeler") -> set[str]:
    chosen = org.api(name).get("/users/me").json["data"]["notification_preferences"]
    return {kind for kind, channels in chosen.items() if channels["email"]}


def test_opening_the_page_changes_nothing(org: Org, visitor: Visitor) -> None:
    before = _emails_on(org)
    for method in ("GET", "HEAD"):
        assert visitor.client.open(_link(org), method=method).status_code == 200
    page = visitor.open(_link(org))
    assert (page.heading, page.has_form) == ("Stop these emails", True)
    assert org.email("labeler") in page.text
    assert "Mentions" in page.text
    assert _emails_on(org) == before


def test_the_button_turns_off_emails_of_the_kind_only(org: Org, visitor: Visitor) -> None:
    before, owner_settings = _emails_on(org), _emails_on(org, "owner")
    done = visitor.send(visitor.open(_link(org)))
    assert (done.status, done.heading) == (200, "You will no longer receive these emails")
    assert _emails_on(org) == before - {"mention"}
    assert _emails_on(org, "owner") == owner_settings
    shown = org.api("labeler").get("/users/me").json["data"]["notification_preferences"]
    assert shown["mention"] == {"in_app": True, "email": False}
    # The link stays valid, and sending it again changes nothing.
    assert visitor.send(visitor.open(_link(org))).status == 200
    assert _emails_on(org) == before - {"mention"}


def test_a_digest_names_several_kinds(org: Org, visitor: Visitor) -> None:
    kinds = ("mention", "export_ready", "export_failed")
    before = _emails_on(org)
    page = visitor.open(_link(org, *kinds, lang="de"))
    assert "Erwähnungen" in page.text
    assert "Fertige Exporte" in page.text
    assert visitor.send(page).status == 200
    assert _emails_on(org) == before - set(kinds)


def test_all_kinds_fit_into_a_link(org: Org, visitor: Visitor) -> None:
    assert visitor.send(visitor.open(_link(org, *_emails_on(org), "assignment"))).status == 200
    assert _emails_on(org) == set()


@pytest.mark.parametrize(
    ("data", "content_type"),
    [
        (b"List-Unsubscribe=One-Click", FORM),
        (
            MULTIPART,
            "multipart/form-data; boundary=b",
        ),
        (b"", None),
    ],
)
def test_a_mail_program_unsubscribes_by_one_request(
    org: Org, visitor: Visitor, data: bytes, content_type: str | None
) -> None:
    before = _emails_on(org)
    answer = visitor.client.post(_link(org), data=data, content_type=content_type)
    assert answer.status_code == 200
    assert "Set-Cookie" not in answer.headers
    assert _emails_on(org) == before - {"mention"}


def _build_forged_tokens(org: Org) -> list[str]:
    with org.app.app_context():
        token = unsubscribing.build_token(org.users["labeler"], ["mention"])
        gone = unsubscribing.build_token(uuid7(), ["mention"])
    changed = token[:-1] + ("A" if token[-1] != "A" else "B")
    return ["", "x", "é", "%00", "A" * 60, changed, token[5:], gone, "A" * 5000]


def test_a_forged_link_does_nothing(org: Org, visitor: Visitor) -> None:
    before = _emails_on(org)
    for token in _build_forged_tokens(org):
        link = f"/unsubscribe?token={token}"
        page = visitor.open(link)
        assert (page.status, page.has_form) == (404, False), token
        assert visitor.client.post(link).status_code == 404
        answer = visitor.client.post("/unsubscribe", data={"token": token.replace("%00", "x")})
        assert answer.status_code in (404, 422)
    assert _emails_on(org) == before


def test_a_form_of_another_site_is_refused(org: Org, visitor: Visitor) -> None:
    before = _emails_on(org)
    page = visitor.open(_link(org))
    refused = visitor.send(page, headers={"Sec-Fetch-Site": "cross-site"})
    assert refused.status == 403
    assert _emails_on(org) == before


@pytest.mark.parametrize("size", [20_000])
def test_a_large_body_is_refused(org: Org, visitor: Visitor, size: int) -> None:
    before = _emails_on(org)
    assert visitor.client.post(_link(org), data=b"x" * size).status_code == 413
    assert _emails_on(org) == before


def test_an_email_has_the_headers_and_the_link(
    org: Org, visitor: Visitor, work: Callable[[], None]
) -> None:
    workspace = Workspace(org)
    tag_set = workspace.submitted()
    mention = {"body": "Why?", "mentions": [str(org.users["labeler"])]}
    path = f"/tag-sets/{tag_set['id']}/comments"
    assert org.api("reviewer").post(path, mention).status_code == 201
    work()
    (message,) = list_messages_to(org.email("labeler"))
    assert message["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    url = re.fullmatch(r"<(\S+)>", message["List-Unsubscribe"])
    assert url is not None
    assert f"Stop emails like this one:\n{url[1]}\n" in get_body(message, "plain")
    assert f'href="{url[1].replace("&", "&amp;")}"' in get_body(message, "html")
    parts = urlsplit(url[1])
    assert (parts.path, parse_qs(parts.query)["lang"]) == ("/unsubscribe", ["en"])
    answer = visitor.client.post(
        f"{parts.path}?{parts.query}", data="List-Unsubscribe=One-Click", content_type=FORM
    )
    assert answer.status_code == 200
    assert "mention" not in _emails_on(org)
    assert org.api("reviewer").post(path, mention).status_code == 201
    work()
    assert len(list_messages_to(org.email("labeler"))) == 1
    assert org.api("labeler").get("/notifications").json["meta"]["total"] == 2


def test_other_emails_have_no_such_headers(
    org: Org, other_org: Org, work: Callable[[], None]
) -> None:
    email = other_org.email("viewer")
    invite = {"email": email, "role": "viewer"}
    path = f"/organizations/{org.slug}/invitations"
    assert org.api("admin").post(path, invite).status_code == 201
    work()
    (message,) = list_messages_to(email)
    assert "List-Unsubscribe" not in message
    assert "Stop emails" not in get_body(message, "plain")
