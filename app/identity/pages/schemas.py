"""Forms of the pages. The services validate their content."""

from app.kit.api.fields import Schema, Str

_TOKEN_LENGTH = 200
_TEXT_LENGTH = 2000


class TokenForm(Schema):
    """The token of the link, and the language of the page."""

    token = Str(load_default="", max_length=_TOKEN_LENGTH)
    lang = Str(load_default="", max_length=_TOKEN_LENGTH)


class ForgotPasswordForm(TokenForm):
    """The email address of an account; there is no token."""

    email = Str(load_default="", max_length=_TEXT_LENGTH)


class NewPasswordForm(TokenForm):
    """A new password, entered twice."""

    password = Str(load_default="", max_length=_TEXT_LENGTH)
    repeat = Str(load_default="", max_length=_TEXT_LENGTH)


class InvitationForm(NewPasswordForm):
    """The name and password of a new account, or the password of an existing one."""

    name = Str(load_default="", max_length=_TEXT_LENGTH)
