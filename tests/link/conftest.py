"""Brokers for tests of the link."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.link.real_broker import PROGRAM, Mosquitto

from orthostream.link.transport.embedded_broker import EmbeddedBroker

DEPLOY = Path(__file__).parents[2] / "deploy"


@pytest.fixture
def start_mosquitto(tmp_path: Path) -> Iterator[Callable[..., Mosquitto]]:
    """A function that starts Mosquitto with some lines of configuration; what it started ends with the test."""
    if PROGRAM is None:
        pytest.skip("mosquitto is not installed")
    started: list[Mosquitto] = []

    def start(*lines: str) -> Mosquitto:
        started.append(Mosquitto(tmp_path / f"mosquitto-{len(started)}", *lines))
        return started[-1]

    yield start
    for each in started:
        each.kill()


@pytest.fixture
def mosquitto(start_mosquitto: Callable[..., Mosquitto]) -> Mosquitto:
    """A Mosquitto on this machine that needs no password."""
    return start_mosquitto("allow_anonymous true")


@pytest.fixture
def embedded_broker() -> Iterator[EmbeddedBroker]:
    """An embedded broker that has begun."""
    with EmbeddedBroker() as broker:
        yield broker


@pytest.fixture(params=["embedded", "mosquitto"])
def broker_address(request: pytest.FixtureRequest) -> str:
    """The address of a broker of each kind, one after the other."""
    name = "embedded_broker" if request.param == "embedded" else "mosquitto"
    address: str = request.getfixturevalue(name).address
    return address


@pytest.fixture(scope="session")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with certificates of a broker at 127.0.0.1, and one of an authority that nobody trusts."""
    if shutil.which("openssl") is None or sys.platform == "win32":
        pytest.skip("openssl or a shell is not installed")
    folder = tmp_path_factory.mktemp("certificates")
    for name, broker in (("ours", "127.0.0.1,localhost"), ("others", "broker.example")):
        command = [DEPLOY / "make-certificates", folder / name, broker, "roof", "cellar"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return folder


@pytest.fixture
def start_secure(start_mosquitto: Callable[..., Mosquitto], certificates: Path) -> Callable[..., Mosquitto]:
    """A function that starts Mosquitto with the configuration of deploy/, without lines that begin as told."""

    def start(certificates_of: str = "ours", without: tuple[str, ...] = (), more: tuple[str, ...] = ()) -> Mosquitto:
        text = (DEPLOY / "mosquitto.conf").read_text()
        for old, new in (
            ("/etc/mosquitto/certificates", str(certificates / certificates_of)),
            ("/etc/mosquitto/orthostream.acl", str(DEPLOY / "orthostream.acl")),
            ("listener 8883", "listener {port}"),
        ):
            assert old in text
            text = text.replace(old, new)
        return start_mosquitto(*[line for line in text.splitlines() if not line.startswith(without)], *more)

    return start
