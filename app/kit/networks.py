"""Conversion of a client's address to its network. Limits per client are counted by network."""

import socket

_IPV4_IN_IPV6 = bytes(10) + b"\xff\xff"
_IPV6_NETWORK_BYTES = 8


def parse_network(address: str) -> bytes:
    """Return an IPv4 address, or the /64 network of an IPv6 address, in network byte order.

    A household or a server has a whole /64 network, so a single address does not identify a client.
    An IPv4-mapped IPv6 address counts as IPv4. A port after the address is ignored, because some
    proxies add a port to `X-Forwarded-For`. Raises OSError if `address` is not an IP address.
    """
    if address.startswith("["):
        address = address[1:].partition("]")[0]
    elif address.count(":") == 1:
        address = address.partition(":")[0]
    if ":" not in address:
        return socket.inet_aton(address)
    packed = socket.inet_pton(socket.AF_INET6, address.partition("%")[0])
    is_mapped = packed.startswith(_IPV4_IN_IPV6)
    return packed[len(_IPV4_IN_IPV6) :] if is_mapped else packed[:_IPV6_NETWORK_BYTES]
