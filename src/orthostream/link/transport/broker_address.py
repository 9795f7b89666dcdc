"""Where a broker is, and whether it may be spoken to in the clear."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from urllib.parse import urlsplit

_SCHEMES = {"mqtt": False, "mqtts": True}
_PORT, _TLS_PORT = 1883, 8883


@dataclass(frozen=True)
class BrokerAddress:
    """A broker's host and port, and whether its address asks for TLS.

    Examples
    --------
    >>> BrokerAddress.parse("127.0.0.1:1883")
    BrokerAddress(host='127.0.0.1', port=1883, tls=False)
    >>> print(BrokerAddress.parse("mqtts://broker.example"))
    broker.example:8883
    """

    host: str
    port: int
    tls: bool

    @classmethod
    def parse(cls, text: str, *, tls: bool = False) -> BrokerAddress:
        """Return the address that a text stands for; raise ValueError if it stands for none.

        ``tls`` says that TLS is wanted even if the text does not ask for it, which decides about the default port.
        """
        advice = "write 127.0.0.1:1883, mqtt://host:port or mqtts://host:port (with TLS)"
        try:
            parts = urlsplit(text if "://" in text else f"mqtt://{text}")
            host, port = parts.hostname, parts.port
        except ValueError:
            raise ValueError(f"this is no address of a broker; {advice}.") from None
        if parts.username is not None or parts.password is not None:
            # The text is not repeated here: it holds a password.
            raise ValueError(f"user and password do not belong into the address of a broker; {advice}.")
        if parts.scheme not in _SCHEMES or not _is_host(host) or parts.path.strip("/") or parts.query or parts.fragment:
            raise ValueError(f"{text!r} is no address of a broker; {advice}.")
        with_tls = tls or _SCHEMES[parts.scheme]
        assert host is not None
        return cls(host, (_TLS_PORT if with_tls else _PORT) if port is None else port, with_tls)

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @property
    def is_loopback(self) -> bool:
        """Whether the broker is on this machine."""
        return is_loopback(self.host)

    def check_access(self, *, has_credentials: bool) -> None:
        """Raise ValueError if a broker on another machine would be spoken to in the clear, or without credentials."""
        if self.is_loopback:
            return
        if not self.tls:
            raise ValueError(
                f"{self} is not on this machine, and without TLS everyone between can read and change what is sent:"
                f" write mqtts://{self}, or allow it with insecure=True."
            )
        if not has_credentials:
            raise ValueError(
                f"{self} is not on this machine, and must not be used anonymously: give a user and a password or a"
                " client certificate, or allow it with insecure=True."
            )


def is_loopback(host: str) -> bool:
    """Return whether a host is this machine.

    Examples
    --------
    >>> is_loopback("localhost"), is_loopback("127.0.0.1"), is_loopback("::1"), is_loopback("192.168.0.7")
    (True, True, True, False)
    """
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def _is_host(host: str | None) -> bool:
    if not host or any(character.isspace() for character in host):
        return False
    try:
        host.encode("idna")
    except UnicodeError:
        return False
    return True
