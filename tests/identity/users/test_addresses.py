"""One mailbox, one key; and what is stored is what mail can be sent to."""

import pytest

from app.identity.users.addresses import get_mailbox_key, parse
from app.kit.errors import ApiError

ALICE = "alice@example.com"


@pytest.mark.parametrize(
    "spelling",
    [
        "Alice@Example.COM",
        " alice@example.com ",
        "\u0430lice@example.com",  # Cyrillic a
        "alic\u0435@example.com",  # Cyrillic ie
        "\uff41lice@example.com",  # full width
        "\u0410LICE@EXAMPLE.COM",  # a capital that folds to a look-alike
        "ali\u200bce@example.com",  # zero-width space
        "alice@ex\u0430mple.com",
        "alice@xn--exmple-4nf.com",  # the same domain in ASCII
    ],
)
def test_look_alikes_share_a_key(spelling: str) -> None:
    assert get_mailbox_key(spelling) == get_mailbox_key(ALICE) == ALICE


@pytest.mark.parametrize(
    "other", ["a1ice@example.com", "alice@example.org", "\xe1lice@example.com", "alic@example.com"]
)
def test_different_mailboxes_keep_different_keys(other: str) -> None:
    assert get_mailbox_key(other) != get_mailbox_key(ALICE)


def test_the_ascii_look_alikes_of_two_people_stay_two() -> None:
    assert (
        len({get_mailbox_key(f"{name}@x.de") for name in ("al", "a1", "ai", "modem", "modern")})
        == 5
    )


def test_composed_and_decomposed_are_one() -> None:
    assert get_mailbox_key("jos\u00e9@x.de") == get_mailbox_key("jose\u0301@x.de")


@pytest.mark.parametrize(
    "text", ["", "@", "no address", "\x00@\ud800", "@" * 10_000, "\u0301" * 999]
)
def test_a_key_of_rubbish_is_still_a_key(text: str) -> None:
    assert isinstance(get_mailbox_key(text), str)


@pytest.mark.parametrize(
    ("typed", "stored"),
    [
        (" Alice@Example.COM ", "alice@example.com"),
        ("x@ex\xe4mple.com", "x@xn--exmple-cua.com"),
        ("jose\u0301@example.com", "jos\u00e9@example.com"),
        ("a+tag@example.com", "a+tag@example.com"),
        ("someone@mail.corp.local", "someone@mail.corp.local"),
    ],
)
def test_the_stored_form(typed: str, stored: str) -> None:
    assert parse(typed) == stored


@pytest.mark.parametrize(
    "text",
    [
        "",
        "alice",
        "alice@",
        "@example.com",
        "alice@@example.com",
        "alice@localhost",
        "alice@[127.0.0.1]",
        '"al ice"@example.com',
        "alice@example.com\r\nBcc: all@example.com",
        "Alice <alice@example.com>",
        "alice@example.com,bob@example.com",
        "alice\x00@example.com",
        "alice\ud800@example.com",
        "ali\u202ece@example.com",
        "a" * 65 + "@example.com",
        "a@" + "b" * 64 + ".com",
        ".local",
        "@.local",
    ],
)
def test_what_no_mail_can_be_sent_to_is_refused(text: str) -> None:
    with pytest.raises(ApiError) as refused:
        parse(text)
    assert refused.value.code == "validation_error"
    assert refused.value.field == "email"
