"""The embedded broker as a process of its own, which can be killed: the only argument is its port."""

from __future__ import annotations

import signal
import sys

from orthostream.link.transport.embedded_broker import EmbeddedBroker

if __name__ == "__main__":
    with EmbeddedBroker(int(sys.argv[1])):
        signal.sigwait([signal.SIGTERM])
