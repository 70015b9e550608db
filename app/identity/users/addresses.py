"""E-mail addresses: how one is stored, and the one key under which its mailbox is known.

The stored address is what mail is sent to. The key only answers "is it the same one?": addresses
that a person takes for each other have one key, so that there is one account, not two.
"""

import unicodedata
from functools import cache

import idna
from email_validator import EmailNotValidError, validate_email

from app.kit import errors
from app.kit.errors import ApiError

MAX_LENGTH = 254
"""RFC 5321, section 4.5.3.1.3: a path of 256 octets less its angle brackets."""

_INTRANET = ".local"


def parse(email: str) -> str:
    """The address as it is stored: checked (RFC 5321, 5322, 6531), lower case, domain in ASCII.

    Nobody is asked whether the domain exists. Raises 400 `validation_error` on `email`.
    """
    text = email.strip().lower()
    # Mail inside a company often lives under .local, which the library takes for a mistake.
    intranet = text.endswith(_INTRANET)
    checked = text.removesuffix(_INTRANET) + ".example" if intranet else text
    try:
        found = validate_email(checked, check_deliverability=False, strict=True)
    except (EmailNotValidError, UnicodeError):
        raise _refused() from None
    domain = found.ascii_domain
    if intranet:
        domain = domain.removesuffix(".example") + _INTRANET
    stored = f"{found.local_part}@{domain}".lower()
    if len(stored.encode()) > MAX_LENGTH:
        raise _refused()
    return stored


def _refused() -> ApiError:
    return errors.invalid("This is not an e-mail address that mail can be sent to.", "email")


def canonical(email: str) -> str:
    """One key per mailbox, of whatever somebody typed. Raises nothing.

    NFKC and case folding (Unicode's toNFKC_Casefold), the domain out of its ASCII form (IDNA), and
    characters outside ASCII that look like another one made that one (UTS 39, section 4). ASCII
    stays as it is: `a1@` and `al@` look alike too, and belong to two people.
    """
    local, at, domain = email[: 2 * MAX_LENGTH].strip().rpartition("@")
    return _fold(local) + at + ".".join(_fold(_unicode(label)) for label in domain.split("."))


def _unicode(label: str) -> str:
    if not label.lower().startswith("xn--"):
        return label
    try:
        return idna.decode(label)
    except (idna.IDNAError, UnicodeError):
        return label


def _fold(text: str) -> str:
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    if folded.isascii():
        return folded
    seen = "".join(_prototype(c) for c in folded if unicodedata.category(c) != "Cf")
    return unicodedata.normalize("NFKC", seen.casefold())


@cache
def _prototype(character: str) -> str:
    """The character that stands for all that look like this one (UTS 39's prototype).

    The data lists, for each character, the prototype alone, and for a prototype all the others.
    """
    # 7 MB, which only an address beyond ASCII needs.
    from confusable_homoglyphs import confusables  # noqa: PLC0415

    listed = [entry["c"] for entry in confusables.confusables_data.get(character, ())]
    if character.isascii() or len(listed) != 1:
        return character
    other: str = listed[0]
    if other.isascii() or len(confusables.confusables_data.get(other, ())) > 1:
        return other
    return min(character, other)
