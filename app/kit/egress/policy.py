"""The policy for outbound requests: the addresses that they may reach.

This module does not use `ipaddress.is_global`, which is also true for translated addresses
(NAT64), although they can lead to private IPv4 addresses.

Sources: the IANA registries of special-purpose addresses for IPv4 and IPv6 (RFC 6890) and the
metadata addresses that large clouds document.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import (
    IPv4Address,
    IPv4Network,
    IPv6Address,
    IPv6Network,
    ip_address,
    ip_network,
)

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

NON_PUBLIC: tuple[Network, ...] = tuple(
    ip_network(network)
    for network in (
        "0.0.0.0/8",  # this host
        "10.0.0.0/8",  # private
        "100.64.0.0/10",  # carrier-grade NAT; Alibaba's metadata
        "127.0.0.0/8",  # loopback
        "168.63.129.16/32",  # Azure's host, as virtual machines see it
        "169.254.0.0/16",  # link-local; metadata of most clouds
        "172.16.0.0/12",  # private
        "192.0.0.0/24",  # protocol assignments; Oracle's metadata
        "192.0.2.0/24",  # documentation
        "192.31.196.0/24",  # AS112
        "192.52.193.0/24",  # multicast tunnels
        "192.88.99.0/24",  # 6to4 relays
        "192.168.0.0/16",  # private
        "192.175.48.0/24",  # AS112
        "198.18.0.0/15",  # benchmarking
        "198.51.100.0/24",  # documentation
        "203.0.113.0/24",  # documentation
        "224.0.0.0/4",  # multicast
        "240.0.0.0/4",  # reserved, broadcast
        "::/96",  # unspecified, loopback, IPv4-compatible
        "::ffff:0:0/96",  # IPv4-mapped
        "::ffff:0:0:0/96",  # IPv4-translated
        "64:ff9b::/96",  # NAT64
        "64:ff9b:1::/48",  # local-use NAT64
        "100::/64",  # discard
        "100:0:0:1::/64",  # dummy
        "2001::/23",  # protocol assignments: Teredo, benchmarking, ORCHID
        "2001:db8::/32",  # documentation
        "2002::/16",  # 6to4
        "2620:4f:8000::/48",  # AS112
        "3fff::/20",  # documentation
        "5f00::/16",  # segment routing
        "fc00::/7",  # unique local; Amazon's metadata fd00:ec2::254
        "fe80::/10",  # link-local
        "fec0::/10",  # site-local
        "ff00::/8",  # multicast
        "::/3",  # unassigned, as are the next two networks: only 2000::/3 is global unicast
        "4000::/2",
        "8000::/1",
    )
)


class EgressRefused(Exception):  # noqa: N818 - names what happened
    """The request is not allowed, its URL is malformed, or its host name does not resolve.

    `reason` may be shown to the user who entered the address. It never contains the resolved
    address, which would reveal the internal network.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True)
class Policy:
    """The rules that determine which outbound requests are allowed.

    Attributes:
        allowed_networks: networks that are allowed although they are not public.
        allow_http: whether http is allowed in addition to https.
        closed: whether all requests are refused.
    """

    allowed_networks: tuple[Network, ...] = ()
    allow_http: bool = False
    closed: bool = False

    def allows(self, address: str) -> bool:
        """Return whether the policy allows a numeric address."""
        return not self.closed and _allows(self.allowed_networks, address)


@lru_cache(maxsize=4096)
def _allows(allowed_networks: tuple[Network, ...], text: str) -> bool:
    try:
        address = ip_address(text.partition("%")[0])
    except ValueError:
        return False
    return _is_in_networks(address, allowed_networks) or not _is_in_networks(address, NON_PUBLIC)


def _is_in_networks(address: Address, networks: Iterable[Network]) -> bool:
    return any(address in network for network in networks if network.version == address.version)
