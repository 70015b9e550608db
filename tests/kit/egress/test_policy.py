import socket
import threading
import time
from ipaddress import ip_network
from typing import Any

import pytest

from app.kit.egress import Egress, EgressRefused, Policy, resolve
from tests.factories.waiting import LONG

NON_PUBLIC = [
    *["0.0.0.0", "0.1.2.3", "10.0.0.1", "10.255.255.255", "100.64.0.1", "100.100.100.200"],
    *["127.0.0.1", "127.255.255.255", "168.63.129.16", "169.254.0.1", "169.254.169.254"],
    *["172.16.0.1", "172.31.255.255", "192.0.0.1", "192.0.0.192", "192.0.2.1", "192.88.99.1"],
    *["192.168.0.1", "198.18.0.1", "198.19.255.255", "198.51.100.1", "203.0.113.1"],
    *["224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255", "::", "::1", "::7f00:1"],
    *["::8.8.8.8", "::ffff:127.0.0.1", "::ffff:8.8.8.8", "::ffff:0:7f00:1", "64:ff9b::7f00:1"],
    *["64:ff9b::808:808", "64:ff9b:1::1", "100::1", "2001::1", "2001:0:7f00:1::", "2001:2::1"],
    *["2001:10::1", "2001:20::1", "2001:db8::1", "2002:7f00:1::1", "2002:808:808::1"],
    *["3fff::1", "5f00::1", "fc00::1", "fd00:ec2::254", "fd12::1", "fe80::1", "fe80::1%eth0"],
    *["fec0::1", "ff02::1", "ff0e::1", "4000::1", "8000::1", "1::1"],
]
PUBLIC = [
    *["1.1.1.1", "8.8.8.8", "9.255.255.255", "11.0.0.1", "100.63.255.255", "100.128.0.1"],
    *["126.255.255.255", "128.0.0.1", "169.253.255.255", "172.15.255.255", "172.32.0.1"],
    *["192.167.255.255", "192.169.0.1", "198.17.255.255", "198.20.0.1", "223.255.255.255"],
    *["2606:4700:4700::1111", "2001:4860:4860::8888", "2a00:1450::1", "2003::1"],
]


@pytest.mark.parametrize("address", NON_PUBLIC)
def test_non_public_addresses_are_refused(address: str) -> None:
    assert not Policy().allows(address)


@pytest.mark.parametrize("address", PUBLIC)
def test_public_addresses_are_allowed(address: str) -> None:
    assert Policy().allows(address)


@pytest.mark.parametrize("text", ["", "localhost", "127.1", "1.1.1.1/8", "\x00", "1.1.1.1\n"])
def test_what_is_no_address_is_refused(text: str) -> None:
    assert not Policy().allows(text)


def test_allowed_networks_open_exactly_what_they_name() -> None:
    policy = Policy((ip_network("10.1.0.0/16"), ip_network("fd00::/64")))
    assert policy.allows("10.1.255.255")
    assert policy.allows("fd00::1")
    assert policy.allows("8.8.8.8")
    for address in ("10.2.0.1", "10.0.255.255", "fd00:0:0:1::1", "::ffff:10.1.0.1", "::10.1.0.1"):
        assert not policy.allows(address)


@pytest.mark.parametrize(
    "host",
    [
        *["127.0.0.1", "127.1", "127.0.1", "0", "0177.0.0.1", "017700000001", "0x7f.0.0.1"],
        *["0x7f000001", "2130706433", "169.254.169.254", "0xa9fea9fe", "2852039166"],
        *["[::1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[64:ff9b::7f00:1]"],
    ],
)
def test_odd_notations_are_judged_by_the_address_they_mean(host: str) -> None:
    with pytest.raises(EgressRefused, match="public address"):
        Egress(Policy()).check_url(f"https://{host}/hook")


@pytest.mark.parametrize("host", ["127.2", "0177.0.0.2", "0x7f000002", "2130706434"])
def test_odd_notations_of_an_allowed_address_are_allowed(egress: Egress, host: str) -> None:
    egress.check_url(f"https://{host}:8443/hook")
    assert egress.resolve_address("127.2", 22) == ("127.0.0.2", 22)


@pytest.mark.parametrize(
    "host",
    [
        *["127.0.0.1.", "127%2e0%2e0%2e1", "localhost%00.example", "absent.example", "a" * 64],
        *["\uff11\uff12\uff17.0.0.1", "\u2460\u2461\u2466.0.0.1", "127\u30020\u30020\u30021"],
        *["[fe80::1%25lo]", "[fe80::1%lo]"],
    ],
)
def test_hosts_that_mean_nothing_are_refused(host: str) -> None:
    with pytest.raises(EgressRefused):
        Egress(Policy()).check_url(f"https://{host}/")


@pytest.mark.parametrize(
    "url",
    [
        *["", "/", "hook", "//1.1.1.1/", "https://", "https:///x", "https://:443/", "https://?x"],
        *["ftp://1.1.1.1/", "file:///etc/passwd", "gopher://1.1.1.1/", "javascript:alert(1)"],
        *["http://1.1.1.1/", "HTTP://1.1.1.1/", "unix:///run/docker.sock", "data:text/plain,x"],
        *["https://user@1.1.1.1/", "https://user:pw@1.1.1.1/", "https://@1.1.1.1/"],
        *[
            "https://1.1.1.1:0/",
            "https://1.1.1.1:65536/",
            "https://1.1.1.1:-1/",
            "https://1.1.1.1:x/",
        ],
        *[
            "https://1.1.1.1\\@127.0.0.1/",
            "https://1.1.1.1/\r\nHost: x",
            "https://1.1.1.1/\x00",
            " ",
        ],
        *[
            "https://1.1.1.1 .example/",
            "https://[::1/",
            "https://[v1.x]/",
            "https://\ud800.example/",
        ],
        "https://1.1.1.1/" + "x" * 2048,
        "https://*.example/",
        "https://.example/",
    ],
)
def test_urls_that_are_none_of_ours_are_refused(url: str) -> None:
    with pytest.raises(EgressRefused):
        Egress(Policy()).check_url(url)


def test_plain_http_needs_the_operators_word(egress: Egress) -> None:
    egress.check_url("http://127.0.0.2:8080/hook")
    with pytest.raises(EgressRefused, match="https"):
        Egress(Policy(egress.policy.allowed_networks)).check_url("http://127.0.0.2/")


def test_every_address_of_a_name_has_to_be_public(names: dict[str, list[str]]) -> None:
    names["mixed.example"] = ["1.1.1.1", "127.0.0.1"]
    names["mixed6.example"] = ["2606:4700::1", "::1"]
    names["public.example"] = ["1.1.1.1", "2606:4700::1"]
    egress = Egress(Policy())
    for name in ("mixed.example", "mixed6.example"):
        with pytest.raises(EgressRefused, match="public"):
            egress.check_url(f"https://{name}/")
        with pytest.raises(EgressRefused, match="public"):
            egress.resolve_address(name, 22)
    egress.check_url("https://public.example/")
    assert egress.resolve_address("public.example", 993) == ("1.1.1.1", 993)


def test_international_names_are_asked_for_in_their_ascii_form(names: dict[str, list[str]]) -> None:
    names["xn--bcher-kva.example"] = ["1.1.1.1"]
    Egress(Policy()).check_url("https://Bücher.example/")


def test_the_reason_does_not_tell_the_address(names: dict[str, list[str]]) -> None:
    names["inner.example"] = ["10.11.12.13"]
    with pytest.raises(EgressRefused) as caught:
        Egress(Policy()).check_url("https://inner.example/")
    assert "10.11" not in caught.value.reason


def test_a_resolver_that_hangs_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    answer = threading.Event()

    def hang(*_: Any, **__: Any) -> list[Any]:
        answer.wait(30)
        return []

    monkeypatch.setattr(socket, "getaddrinfo", hang)
    egress = Egress(Policy())
    started = time.monotonic()
    with pytest.raises(EgressRefused, match="resolve"):
        egress.resolve_address("hangs.example", 443, timeout=0.2)
    outcome = egress.request("POST", "https://hangs.example/", total_timeout=0.3)
    answer.set()
    assert outcome.error_kind == "timeout"
    assert time.monotonic() - started < LONG


def test_many_hanging_lookups_do_not_take_more_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    answer = threading.Event()
    looked_up_hosts = []
    look_up = socket.getaddrinfo

    def hang(host: str, *args: Any, **named: Any) -> list[Any]:
        if not host.endswith(
            ".example"
        ):  # a lookup by another thread, for example for the application's servers
            return look_up(host, *args, **named)
        looked_up_hosts.append(host)
        answer.wait(30)
        raise socket.gaierror

    monkeypatch.setattr(resolve, "_lookup_semaphore", threading.BoundedSemaphore(64))
    monkeypatch.setattr(socket, "getaddrinfo", hang)
    egress = Egress(Policy())
    try:
        for number in range(70):
            with pytest.raises(EgressRefused):
                egress.resolve_address(f"n{number}.example", 443, timeout=0.005)
        until = time.monotonic() + LONG
        while len(looked_up_hosts) < 64 and time.monotonic() < until:
            time.sleep(0.01)  # the last threads may not have started their lookup yet
        assert len(looked_up_hosts) == 64
    finally:
        answer.set()
