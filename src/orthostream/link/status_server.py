"""The state of a service over HTTP: for people, for Prometheus, and for what restarts it."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

from orthostream.link.prometheus import prometheus_text
from orthostream.link.service import Service


class StatusServer:
    """Answers ``/health``, ``/metrics`` and ``/status`` on this machine only.

    ``/health`` has the status 503 if the service does not work, and 200 otherwise.

    Parameters
    ----------
    service : Service
    prefix : str
        Of the names of metrics.
    port : int
        0 for one that is free.
    host : str

    Raises
    ------
    OSError
        If the port is in use.
    """

    def __init__(self, service: Service, prefix: str, port: int = 0, host: str = "127.0.0.1") -> None:
        class _AboutService(_Answering):
            about = service
            name_prefix = prefix

        self._server = ThreadingHTTPServer((host, port), _AboutService)
        self._server.daemon_threads = True
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.2}, name="status server", daemon=True
        )
        self._thread.start()

    @property
    def port(self) -> int:
        """The port that it listens at."""
        return int(self._server.server_address[1])

    def close(self) -> None:
        """Stop answering."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


class _Answering(BaseHTTPRequestHandler):
    about: Service
    name_prefix: str
    timeout = 10.0

    def do_GET(self) -> None:
        """Answer one request."""
        health = self.about.health
        if self.path == "/health":
            self._answer(200 if health["healthy"] else 503, _json(health), "application/json")
        elif self.path == "/status":
            self._answer(200, _json({**self.about.status, "healthy": health["healthy"]}), "application/json")
        elif self.path == "/metrics":
            text = prometheus_text({**self.about.status, "healthy": health["healthy"]}, self.name_prefix)
            self._answer(200, text.encode(), "text/plain; version=0.0.4; charset=utf-8")
        else:
            self._answer(404, b"there are /health, /metrics and /status\n", "text/plain; charset=utf-8")

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name that http.server uses
        """Log nothing: Prometheus asks every few seconds."""

    def _answer(self, code: int, body: bytes, kind: str) -> None:
        self.send_response(code)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        self.wfile.write(body)


def _json(plain: dict[str, Any]) -> bytes:
    return json.dumps(plain, indent=2, default=str).encode() + b"\n"
