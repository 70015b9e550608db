"""Definitions of the pages with a form: content, checks and action.

All pages except the page for a forgotten password need a token from an email.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from app.identity.auth import credentials, links, password_policy
from app.identity.auth import service as auth
from app.identity.auth.routes import read_client
from app.identity.invitations import accepting as invitations
from app.identity.invitations.schemas import AcceptInvitation
from app.identity.pages.problems import Problem
from app.identity.pages.rendering import PHRASES, Input
from app.identity.sso import cookies, flows
from app.identity.sso import service as sso
from app.identity.users import passwords, unsubscribing
from app.kit import locales
from app.kit.api import requests
from app.kit.api.fields import Schema, Str
from app.kit.links import WebPage
from app.kit.visible_text import has_visible_character

MAX_EMAIL_LENGTH = 320
"""The maximum number of characters in an email address, as in the API's password reset."""

Context = dict[str, Any]
"""The values that a page shows, such as `email`."""
Form = dict[str, Any]
"""The fields of a submitted form."""
_MAX_HIDDEN_FIELD_LENGTH = 200
_MAX_UNSUBSCRIBE_TOKEN_LENGTH = 400
"""The maximum number of characters in a token with the names of all notification types."""
_MAX_TEXT_LENGTH = 2000


class TokenForm(Schema):
    """The token from the link, and the page's language."""

    token = Str(load_default="", max_length=_MAX_HIDDEN_FIELD_LENGTH)
    lang = Str(load_default="", max_length=_MAX_HIDDEN_FIELD_LENGTH)


class ForgotPasswordForm(TokenForm):
    """The email address of an account; the token is empty."""

    email = Str(load_default="", max_length=_MAX_TEXT_LENGTH)


class NewPasswordForm(TokenForm):
    """A new password, entered twice."""

    password = Str(load_default="", max_length=_MAX_TEXT_LENGTH)
    repeat = Str(load_default="", max_length=_MAX_TEXT_LENGTH)


class InvitationForm(NewPasswordForm):
    """The name and password of a new account, or the password of an existing account."""

    name = Str(load_default="", max_length=_MAX_TEXT_LENGTH)


@dataclass(frozen=True, kw_only=True)
class FormPage:
    """A page with one form.

    `name` is the name of the page's TOML table in the language files. `page` is the page's path.
    `operation`, `record_type` and `limit` are the same as in the corresponding API operation.
    `read(token, language)` returns the values that the page shows, and does not consume the token.
    `form` is the schema of the submitted form, and `inputs` builds the visible fields. `check`
    returns the problems with a submitted form, before the rate limit counts the request. `perform`
    performs the action, and `done_status` is the status code of the response. `phrases` maps error
    codes to problems that replace the default problems. `new_link_page` is the page where users can
    request a new link. If `one_click` is true, a POST request to the emailed link performs the
    action without a form. Mail programs send this request (RFC 8058).
    """

    name: str
    page: WebPage
    operation: str
    read: Callable[[str, str], Context]
    perform: Callable[[Form, Context], object]
    record_type: str = "sessions"
    limit: str | None = None
    form: type[Schema] = TokenForm
    check: Callable[[Form, Context], list[Problem]] = lambda _form, _context: []
    inputs: Callable[[Form, Context], Sequence[Input]] = lambda _form, _context: []
    phrases: Mapping[str, Problem] = field(default_factory=dict)
    new_link_page: WebPage | None = None
    done_status: int = 200
    one_click: bool = False


def _check_new_password(form: Form) -> list[Problem]:
    if not form["password"]:
        return [Problem("password_missing", "password")]
    if form["password"] != form["repeat"]:
        return [Problem("passwords_differ", "repeat")]
    return []


def _build_account_input(email: str) -> Input:
    """Build a read-only field that tells password managers which account the password is for."""
    return Input("email", "email", "username", value=email)


def _build_new_password_inputs() -> list[Input]:
    return [
        Input("new_password", "password", "new-password", "password", hint="password_hint"),
        Input("repeat", "password", "new-password", "repeat"),
    ]


def _reset_password(form: Form, _context: Context) -> None:
    login = credentials.confirm_reset(
        token=form["token"], password=form["password"], client=read_client()
    )
    auth.discard_login(login)


RESET_PASSWORD = FormPage(
    name="reset_password",
    page=WebPage.RESET_PASSWORD,
    operation="confirm_password_reset",
    limit="password",
    read=lambda token, _language: {"email": links.get_address(token, links.PASSWORD_RESET)},
    perform=_reset_password,
    form=NewPasswordForm,
    check=lambda form, _context: _check_new_password(form),
    inputs=lambda _form, context: [
        _build_account_input(context["email"]),
        *_build_new_password_inputs(),
    ],
    new_link_page=WebPage.FORGOT_PASSWORD,
)


def _check_email(form: Form, _context: Context) -> list[Problem]:
    email = form["email"].strip()
    if not email:
        return [Problem("email_missing", "email")]
    if "@" not in email or len(email) > MAX_EMAIL_LENGTH:
        return [Problem("email_invalid", "email")]
    return []


FORGOT_PASSWORD = FormPage(
    name="forgot_password",
    page=WebPage.FORGOT_PASSWORD,
    operation="request_password_reset",
    limit="password",
    # Nothing is read, so that the page and its response are the same for every address.
    read=lambda _token, _language: {},
    perform=lambda form, _context: credentials.request_reset(form["email"].strip()),
    form=ForgotPasswordForm,
    check=_check_email,
    inputs=lambda form, _context: [
        Input("email", "email", "email", "email", value=form.get("email", ""))
    ],
    phrases={
        "permission_denied": Problem("other_site_page"),
        "payload_too_large": Problem("form_page"),
        "unsupported_media_type": Problem("form_page"),
        "unprocessable": Problem("form_page"),
    },
    done_status=202,
)


CONFIRM_EMAIL = FormPage(
    name="confirm_email",
    page=WebPage.CONFIRM_EMAIL,
    operation="confirm_email_change",
    read=lambda token, _language: {"email": links.get_address(token, links.EMAIL_CONFIRMATION)},
    perform=lambda form, _context: credentials.confirm_email_change(form["token"]),
)


def _read_invitation(token: str, language: str) -> Context:
    preview = invitations.get_preview(token)
    if not preview.has_account:
        password_policy.check_address(preview.email)
    return {
        "email": preview.email,
        "organization": preview.organization.name,
        "inviter": preview.inviter_name or preview.organization.name,
        "role": preview.role,
        "expires": locales.format_timestamp(preview.expires_at, language, "UTC"),
        "has_account": preview.has_account,
    }


def _check_invitation(form: Form, context: Context) -> list[Problem]:
    if context["has_account"]:
        return [] if form["password"] else [Problem("password_missing", "password")]
    problems = []
    if not has_visible_character(form["name"]):
        problems.append(Problem("name_missing", "name"))
    problems += _check_new_password(form)
    if not problems:
        # Check before the rate limit of three requests per hour, so that a weak password does not
        # count as a request.
        requests.load(AcceptInvitation(), {"name": form["name"]})
        passwords.check(form["password"], email=context["email"], name=form["name"])
    return problems


def _build_invitation_inputs(form: Form, context: Context) -> list[Input]:
    account_input = _build_account_input(context["email"])
    if context["has_account"]:
        return [account_input, Input("password", "password", "current-password", "password")]
    name_input = Input("name", "text", "name", "name", value=form.get("name", ""))
    return [account_input, name_input, *_build_new_password_inputs()]


def _accept_invitation(form: Form, context: Context) -> None:
    name = None if context["has_account"] else form["name"].strip()
    login = invitations.accept(
        form["token"],
        authorization=None,
        name=name,
        password=form["password"],
        client=read_client(),
    )
    auth.discard_login(login)


ACCEPT_INVITATION = FormPage(
    name="accept_invitation",
    page=WebPage.ACCEPT_INVITATION,
    operation="accept_invitation",
    record_type="invitations",
    limit="accept_invitation",
    read=_read_invitation,
    perform=_accept_invitation,
    form=InvitationForm,
    check=_check_invitation,
    inputs=_build_invitation_inputs,
)


def _confirm_sign_on(form: Form, _context: Context) -> None:
    login = sso.exchange(
        code=form["token"], code_verifier=None, browser_secret=cookies.read(), client=read_client()
    )
    auth.discard_login(login)


CONFIRM_SIGN_ON = FormPage(
    name="confirm_sign_on",
    page=WebPage.CONFIRM_SIGN_ON,
    operation="exchange_sso_code",
    limit="sso",
    read=lambda token, _language: flows.get_confirmation(token, browser_secret=cookies.read()),
    perform=_confirm_sign_on,
    phrases={"invalid_credentials": Problem("link_invalid")},
)


class UnsubscribeForm(TokenForm):
    """The token from the link, and the page's language; the token names notification types."""

    token = Str(load_default="", max_length=_MAX_UNSUBSCRIBE_TOKEN_LENGTH)


def _read_unsubscription(token: str, language: str) -> Context:
    unsubscription = unsubscribing.read_token(token)
    labels = (_get_type_label(name, language) for name in unsubscription.notification_types)
    return {"email": unsubscribing.get_address(unsubscription), "kinds": ", ".join(labels)}


def _get_type_label(notification_type: str, language: str) -> str:
    return "".join(part.text for part in PHRASES.find(f"kinds.{notification_type}", language))


UNSUBSCRIBE = FormPage(
    name="unsubscribe",
    page=WebPage.UNSUBSCRIBE,
    operation="update_notification_preferences",
    record_type="users",
    read=_read_unsubscription,
    perform=lambda form, _context: unsubscribing.unsubscribe(form["token"]),
    form=UnsubscribeForm,
    one_click=True,
)

TOKEN_PAGES = (RESET_PASSWORD, CONFIRM_EMAIL, ACCEPT_INVITATION, CONFIRM_SIGN_ON)
FORM_PAGES = (*TOKEN_PAGES, FORGOT_PASSWORD)
