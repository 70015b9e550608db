"""The page that turns off notification emails, and the unsubscribe request of mail programs."""

from flask import Response, request

from app.identity.pages import handling
from app.identity.pages.rendering import PHRASES
from app.identity.pages.token_pages import Context, FormPage, TokenForm
from app.identity.users import unsubscribing
from app.kit.api.fields import Str
from app.kit.links import WebPage

_MAX_TOKEN_LENGTH = 400
"""The maximum length of a token, sufficient for the names of all notification types."""


class UnsubscribeForm(TokenForm):
    """The token from the link, which contains the notification types."""

    token = Str(load_default="", max_length=_MAX_TOKEN_LENGTH)


def _read(token: str, language: str) -> Context:
    unsubscription = unsubscribing.read_token(token)
    labels = (_get_type_label(name, language) for name in unsubscription.notification_types)
    return {"email": unsubscribing.get_address(unsubscription), "kinds": ", ".join(labels)}


def _get_type_label(notification_type: str, language: str) -> str:
    return "".join(part.text for part in PHRASES.find(f"kinds.{notification_type}", language))


UNSUBSCRIBE = FormPage(
    name="unsubscribe",
    page=WebPage.UNSUBSCRIBE,
    operation="update_notification_preferences",
    records="users",
    read=_read,
    perform=lambda form, _context: unsubscribing.unsubscribe(form["token"]),
    form=UnsubscribeForm,
)


def submit() -> Response:
    """Handle POST requests from the form, or from a mail program that posts to the emailed link."""
    token = request.args.get("token")
    if token is None:
        return handling.submit(UNSUBSCRIBE)
    return handling.submit_link(UNSUBSCRIBE, token)
