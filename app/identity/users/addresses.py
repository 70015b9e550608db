"""Email addresses: parsing, and the mailbox key that identifies look-alike addresses.

Email is sent to the stored address. The key is only used to compare addresses: addresses that
differ only in case, or that look alike because of non-ASCII characters, have the same key, so that
they cannot belong to two accounts.
"""

import unicodedata
from functools import cache

import idna
from email_validator import EmailNotValidError, validate_email

from app.kit import errors
from app.kit.errors import ApiError

MAX_LENGTH = 254
"""The maximum length of an address in bytes.

RFC 5321, section 4.5.3.1.3, allows a path of 256 octets, including the two angle brackets.
"""

_INTRANET_SUFFIX = ".local"


def parse(email: str) -> str:
    """Validate an address (RFC 5321, 5322, 6531) and return its stored form.

    The stored form is in lower case, with the domain in ASCII. The existence of the domain is not
    checked. Raises 400 `validation_error` on `email` if the address is invalid or too long.
    """
    text = email.strip().lower()
    # Companies often use .local for internal email, but the library rejects that domain. Validate
    # the address with a domain that the library accepts.
    is_intranet = text.endswith(_INTRANET_SUFFIX)
    candidate = text.removesuffix(_INTRANET_SUFFIX) + ".example" if is_intranet else text
    try:
        address = validate_email(candidate, check_deliverability=False, strict=True)
    except (EmailNotValidError, UnicodeError):
        raise _build_address_error() from None
    domain = address.ascii_domain
    if is_intranet:
        domain = domain.removesuffix(".example") + _INTRANET_SUFFIX
    stored_form = f"{address.local_part}@{domain}".lower()
    if len(stored_form.encode()) > MAX_LENGTH:
        raise _build_address_error()
    return stored_form


def _build_address_error() -> ApiError:
    return errors.invalid("This is not a valid email address.", "email")


def get_mailbox_key(email: str) -> str:
    """Return the mailbox key of an address. Accepts any text and never raises an error.

    The text is normalized to NFKC and case-folded (Unicode's toNFKC_Casefold), the domain is
    decoded from its ASCII form (IDNA), and each non-ASCII character that looks like another
    character is replaced by that character (UTS 39, section 4). ASCII characters are kept: `a1@`
    and `al@` also look alike, but may belong to two people.
    """
    local_part, at, domain = email[: 2 * MAX_LENGTH].strip().rpartition("@")
    labels = (_fold_lookalikes(_decode_label(label)) for label in domain.split("."))
    return _fold_lookalikes(local_part) + at + ".".join(labels)


def _decode_label(label: str) -> str:
    if not label.lower().startswith("xn--"):
        return label
    try:
        return idna.decode(label)
    except (idna.IDNAError, UnicodeError):
        return label


def _fold_lookalikes(text: str) -> str:
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    if folded.isascii():
        return folded
    visible_text = "".join(_get_prototype(c) for c in folded if unicodedata.category(c) != "Cf")
    return unicodedata.normalize("NFKC", visible_text.casefold())


@cache
def _get_prototype(character: str) -> str:
    """Return the character that represents all characters that look like `character`.

    UTS 39 calls this character the prototype. The library confusable_homoglyphs lists only the
    prototype of an ordinary character, but all look-alikes of a prototype.
    """
    # Imported here because it takes 7 MB and only non-ASCII addresses need it.
    from confusable_homoglyphs import confusables  # noqa: PLC0415

    lookalikes = [entry["c"] for entry in confusables.confusables_data.get(character, ())]
    if character.isascii() or len(lookalikes) != 1:
        return character
    lookalike: str = lookalikes[0]
    if lookalike.isascii() or len(confusables.confusables_data.get(lookalike, ())) > 1:
        return lookalike
    return min(character, lookalike)
