"""The files that TLS needs."""

from __future__ import annotations

import os
import ssl
from dataclasses import dataclass


class TidySocket(ssl.SSLSocket):
    """A socket that is closed if the other side is not trusted, and not only forgotten."""

    def do_handshake(self, block: bool = False) -> None:
        """Agree on keys; raise OSError, with the socket closed, if that fails."""
        try:
            super().do_handshake(block)
        except OSError:
            self.close()
            raise


@dataclass(frozen=True)
class Tls:
    """Files for TLS, in PEM.

    Parameters
    ----------
    ca : path, optional
        Certificates to trust; those of the system by default.
    certificate, key : path, optional
        Of this client, if the broker knows clients by certificates. The key may be in the file of the certificate.
    """

    ca: str | os.PathLike[str] | None = None
    certificate: str | os.PathLike[str] | None = None
    key: str | os.PathLike[str] | None = None

    def context(self) -> ssl.SSLContext:
        """Return what a connection is made with; raise ValueError if a file is missing or not what it should be."""
        for what, path in (("CA certificate", self.ca), ("certificate", self.certificate), ("key", self.key)):
            if path is not None and not os.access(path, os.R_OK):
                raise ValueError(f"the {what} for TLS cannot be read: {os.fspath(path)}.")
        if self.key is not None and self.certificate is None:
            raise ValueError(f"there is a key for TLS, {os.fspath(self.key)}, but no certificate that it belongs to.")
        try:
            context = ssl.create_default_context(cafile=self.ca)
        except ssl.SSLError:
            raise ValueError(f"{self.ca} holds no CA certificates in PEM.") from None
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        context.sslsocket_class = TidySocket
        if self.certificate is not None:
            try:
                # An empty password: a key that needs one is refused here, and not asked for on the terminal.
                context.load_cert_chain(self.certificate, self.key, password="")
            except (ssl.SSLError, ValueError):
                raise ValueError(
                    f"{self.certificate} and {self.key or 'the key in it'} are no certificate and its key in PEM; a key"
                    " must not have a password."
                ) from None
        return context
