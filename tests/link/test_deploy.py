"""The files of deploy/: certificates are made, Mosquitto and systemd accept their files, and settings are known."""

from __future__ import annotations

import configparser
import re
import shutil
import stat
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.link.real_broker import Mosquitto, wait_until

from orthostream.cli.main import main
from orthostream.link.names import topic_of_answers, topic_of_readings
from orthostream.link.transport.mqtt import MqttTransport, Tls

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
UNITS = ["orthostream-edge.service", "orthostream-cloud.service"]


def make_certificates(*arguments: object) -> subprocess.CompletedProcess[str]:
    if shutil.which("openssl") is None or sys.platform == "win32":
        pytest.skip("openssl or a shell is not installed")
    return subprocess.run([DEPLOY / "make-certificates", *map(str, arguments)], capture_output=True, text=True)


def test_certificates_are_made_and_kept(tmp_path: Path) -> None:
    folder = tmp_path / "certificates"
    assert make_certificates(folder, "broker.example,10.0.0.7,::1", "roof").returncode == 0
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert set(before) == {f"{name}.{kind}" for name in ("ca", "broker", "cloud", "roof") for kind in ("crt", "key")}
    again = make_certificates(folder, "broker.example", "roof", "cellar")
    assert again.stdout == f"{folder}/cellar.crt\n"
    assert {name: (folder / name).read_bytes() for name in before} == before
    for path in folder.glob("*.key"):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    verify = ["openssl", "verify", "-x509_strict", "-CAfile", folder / "ca.crt", *folder.glob("*.crt")]
    assert subprocess.run(verify, capture_output=True).returncode == 0
    shown = subprocess.run(
        ["openssl", "x509", "-noout", "-text", "-in", folder / "broker.crt"], capture_output=True, text=True
    ).stdout
    assert "DNS:broker.example, IP Address:10.0.0.7, IP Address:0:0:0:0:0:0:0:1" in shown


@pytest.mark.parametrize("bad", ["a/b", "+", "#", "", "x" * 65, "cloud", "ca", "a b", "$(id)"])
def test_names_that_no_edge_can_have_are_refused(tmp_path: Path, bad: str) -> None:
    refused = make_certificates(tmp_path, "broker.example", bad)
    assert refused.returncode == 2
    assert refused.stderr.startswith("make-certificates: ")
    assert not list(tmp_path.glob("*.crt"))


def test_missing_arguments_are_explained(tmp_path: Path) -> None:
    refused = make_certificates(tmp_path)
    assert refused.returncode == 2
    assert "give a folder, the name of the broker" in refused.stderr


def test_mosquitto_with_passwords_as_its_file_explains(
    tmp_path: Path, certificates: Path, start_secure: Callable[..., Mosquitto]
) -> None:
    program = shutil.which("mosquitto_passwd")
    if program is None:
        pytest.skip("mosquitto_passwd is not installed")
    passwords = tmp_path / "passwords"
    passwords.touch(mode=0o600)
    for user in ("cloud", "roof"):
        subprocess.run([program, "-b", passwords, user, f"password of {user}"], check=True)
    assert "# password_file" in (DEPLOY / "mosquitto.conf").read_text()
    broker = start_secure(without=("require_", "use_"), more=(f"password_file {passwords}",))
    address, tls = f"mqtts://{broker.address}", Tls(certificates / "ours" / "ca.crt")
    got: list[bytes] = []
    with (
        MqttTransport(address, client_id="c", user="cloud", password="password of cloud", tls=tls) as cloud,
        MqttTransport(address, client_id="r", user="roof", password="password of roof", tls=tls) as roof,
        MqttTransport(address, client_id="x", user="roof", password="another", tls=tls) as wrong,
        MqttTransport(address, client_id="y", tls=tls) as nobody,
    ):
        cloud.subscribe(["orthostream/+/+/up"], lambda _, data: got.append(data))
        wait_until(lambda: cloud.is_connected and roof.is_connected)
        # No answer to an edge comes from another edge, and no edge writes under another's name.
        assert roof.publish(topic_of_readings("cellar"), b"under another's name")
        assert roof.publish(topic_of_answers("roof"), b"to itself")
        assert roof.publish(topic_of_readings("roof"), b"readings")
        wait_until(lambda: got)
        for client in (wrong, nobody):
            wait_until(lambda client=client: "refused this client" in client.last_error)
    assert got == [b"readings"]


def test_the_size_limit_of_mosquitto_is_that_of_messages() -> None:
    from orthostream.link.messages import MOST_BYTES

    assert f"\nmessage_size_limit {MOST_BYTES}\n" in (DEPLOY / "mosquitto.conf").read_text()


@pytest.mark.parametrize("name", UNITS)
def test_units_are_valid_and_hardened(name: str, tmp_path: Path) -> None:
    unit = configparser.RawConfigParser(strict=False)
    unit.optionxform = str  # type: ignore[assignment, method-assign]
    unit.read(DEPLOY / name)
    service = unit["Service"]
    for key, value in (
        ("NoNewPrivileges", "yes"),
        ("ProtectSystem", "strict"),
        ("ProtectHome", "yes"),
        ("CapabilityBoundingSet", ""),
        ("User", "orthostream"),
        ("Restart", "always"),
    ):
        assert service[key] == value
    assert unit["Install"]["WantedBy"] == "multi-user.target"
    program = shutil.which("systemd-analyze")
    if program is None:
        return
    text = (DEPLOY / name).read_text().replace("/opt/orthostream/bin/orthostream", sys.executable)
    (tmp_path / name).write_text(text)
    checked = subprocess.run([program, "verify", "--man=no", tmp_path / name], capture_output=True, text=True)
    said = [line for line in checked.stderr.splitlines() if name in line]
    assert (said, checked.returncode) == ([], 0)


@pytest.mark.parametrize("program", ["edge", "cloud"])
def test_settings_are_known_to_the_programs(
    program: str, tmp_path: Path, certificates: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """All lines, those in comments too; with paths of this machine."""
    text = (DEPLOY / f"{program}.toml").read_text()
    text = re.sub(r"^# (\S+ = )", r"\1", text, flags=re.M)
    for secret, content in (("roof.secret", "a key of 16 characters"), ("keys", "roof a-key-of-16-characters")):
        (tmp_path / secret).write_text(content)
        (tmp_path / secret).chmod(0o600)
    (tmp_path / "readings.csv").write_text("time,a\n2026-01-01T00:00:00,1.5\n2026-01-01T01:00:00,1.75\n")
    for old, new in (
        ("/etc/orthostream/roof.secret", tmp_path / "roof.secret"),
        ("/etc/orthostream/keys", tmp_path / "keys"),
        ("/etc/orthostream", certificates / "ours"),
        ("/var/lib/sensors", tmp_path),
        (f"/var/lib/orthostream-{program}", tmp_path),
    ):
        text = text.replace(str(old), str(new))
    path = tmp_path / "settings.toml"
    path.write_text(text)
    code = main([program, "--config", str(path), "--check"])
    told = capsys.readouterr()
    assert code == 0, told.err
    for name in tomllib.loads(text):
        assert name in told.out


def test_containers() -> None:
    yaml = pytest.importorskip("yaml")
    compose = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    assert set(compose["services"]) == {"broker", "postgres", "cloud", "grafana"}
    for service in compose["services"].values():
        assert service["cap_drop"] == ["ALL"]
        assert service["security_opt"] == ["no-new-privileges:true"]
        # Only the broker, which asks for certificates, is open to other machines.
        for port in service.get("ports", []):
            assert port == "8883:8883" or port.startswith("127.0.0.1:")
        for volume in service.get("volumes", []):
            source = volume.split(":")[0]
            if source.startswith("./") and not source.startswith(("./certificates/", "./grafana")):
                assert (DEPLOY / source).is_file(), source
    needed = set(re.findall(r"\$\{(\w+):\?", (DEPLOY / "compose.yaml").read_text()))
    assert needed == set(re.findall(r"^(\w+)=", (DEPLOY / "README.md").read_text(), flags=re.M))


def test_the_image_is_made_of_files_that_exist() -> None:
    text = (DEPLOY / "Containerfile").read_text()
    ignored = (DEPLOY / "Containerfile.dockerignore").read_text()
    for names in re.findall(r"^COPY (?!--from)(.*) \S+$", text, flags=re.M):
        for name in names.split():
            assert (ROOT / name).exists()
            assert f"!{name}\n" in ignored
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    (wanted,) = re.findall(r"'\.\[(.*)\]'", text)
    assert set(wanted.split(",")) <= set(extras)
    assert re.search(r"^USER 10001$", text, flags=re.M)


def test_all_files_are_explained() -> None:
    readme = (DEPLOY / "README.md").read_text()
    for path in DEPLOY.iterdir():
        if path.name not in ("README.md", "Containerfile.dockerignore") and not path.name.startswith("."):
            assert f"`{path.name}" in readme, path.name
