"""A small DNS server on loopback: real messages over UDP, with records that tests set."""

import socketserver
import threading
from dataclasses import dataclass, field

import dns.exception
import dns.flags
import dns.message
import dns.name
import dns.rcode
import dns.resolver
import dns.rrset

HOST = "127.0.0.2"


@dataclass
class Zone:
    """TXT records by name, and names that fail; any other name does not exist."""

    texts: dict[str, list[str]] = field(default_factory=dict)
    failing: set[str] = field(default_factory=set)
    silent: set[str] = field(default_factory=set)
    address: tuple[str, int] = ("", 0)
    asked: list[str] = field(default_factory=list)

    def put(self, record: dict[str, str]) -> None:
        """Add a record as `get_sso` returns it."""
        assert record["type"] == "TXT"
        self.texts[record["name"]] = [record["value"]]

    def answer(self, data: bytes) -> bytes | None:
        query = dns.message.from_wire(data)
        name = query.question[0].name
        text = name.to_text(omit_final_dot=True)
        self.asked.append(text)
        if text in self.silent:
            return None
        response = dns.message.make_response(query)
        response.flags |= dns.flags.AA
        if text in self.failing:
            response.set_rcode(dns.rcode.SERVFAIL)
        elif text in self.texts:
            values = [f'"{value}"' for value in self.texts[text]]
            response.answer.append(dns.rrset.from_text(name, 1, "IN", "TXT", *values))
        else:
            response.set_rcode(dns.rcode.NXDOMAIN)
        return response.to_wire()

    def resolver(self) -> dns.resolver.Resolver:
        resolver = dns.resolver.Resolver(configure=False)
        resolver.nameservers = [self.address[0]]
        resolver.port = self.address[1]
        return resolver


class _Server(socketserver.ThreadingUDPServer):
    zone: Zone
    daemon_threads = True


class _Handler(socketserver.BaseRequestHandler):
    server: _Server

    def handle(self) -> None:
        data, socket = self.request
        try:
            answer = self.server.zone.answer(data)
        except dns.exception.DNSException:
            return
        if answer is not None:
            socket.sendto(answer, self.client_address)


def serve(zone: Zone) -> socketserver.ThreadingUDPServer:
    """Run a server; the caller shuts it down."""
    server = _Server((HOST, 0), _Handler)
    server.zone = zone
    zone.address = (HOST, server.server_address[1])
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server
