"""`orthostream novelty`: documents in, flagged ones out, and what is wrong in one line."""

from __future__ import annotations

import gzip
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from orthostream.cli.main import main
from orthostream.compression.file.lock import open_locked
from orthostream.novelty import NovelDocumentDetector

from .conftest import Run

#: Quick settings: few topics, a short warm-up.
QUICK = ("--components", "12", "--warm-up", "200", "--quiet")


def documents(count: int, seed: int = 0) -> list[dict[str, Any]]:
    """Return made-up news; document 700 and those around it are about something else."""
    rng = np.random.default_rng(seed)
    found = []
    for number in range(count):
        topic = "quake" if 700 <= number < 705 else f"topic{rng.integers(0, 8)}"
        words = [f"{topic}word{word}" for word in rng.integers(0, 20, 12)] + [f"common{word}" for word in range(5)]
        found.append(
            {"id": f"d{number}", "title": f"{topic} {number}", "body": " ".join(words), "date": f"day {number}"}
        )
    return found


@pytest.fixture(scope="module")
def news(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("news") / "news.jsonl"
    path.write_text("".join(json.dumps(document) + "\n" for document in documents(1500)))
    return path


def lines(content: str | bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in content.splitlines()]


class Done(NamedTuple):
    """What a command printed."""

    returncode: int
    stdout: bytes
    stderr: bytes


@pytest.fixture
def inside(capfdbinary: pytest.CaptureFixture[bytes]) -> Callable[..., Done]:
    """Run the command in this process, which is faster than in one of its own."""

    def run(*arguments: str | Path) -> Done:
        code = main([str(argument) for argument in arguments])
        return Done(code, *capfdbinary.readouterr())

    return run


def test_flagged_documents_come_out(news: Path, inside: Callable[..., Done]) -> None:
    done = inside("novelty", news, "--components", "12", "--warm-up", "200")
    assert done.returncode == 0
    found = lines(done.stdout)
    assert {"d700", "d701"} <= {document["id"] for document in found}
    assert all(document["novel"] and document["score"] > document["threshold"] for document in found)
    assert found[0]["time"].startswith("day ")
    told = done.stderr.decode()
    assert told.startswith(f"{news}: 1,500 documents; {len(found)} flagged; threshold ")
    assert told.count("\n") == 1


def test_all_documents(news: Path, inside: Callable[..., Done]) -> None:
    found = lines(inside("novelty", news, *QUICK, "--all").stdout)
    assert [document["number"] for document in found] == list(range(1, 1501))
    assert all(document.get("warming_up", False) == (document["number"] <= 200) for document in found)
    assert not any("explanation" in document for document in found)


def test_explanations(news: Path, inside: Callable[..., Done]) -> None:
    found = lines(inside("novelty", news, *QUICK, "--explain").stdout)
    quake = next(document for document in found if document["id"] == "d700")["explanation"]
    assert all("quake" in term["term"] for term in quake["terms"][:3]) or quake["unseen"]
    assert any("quake" in word for word in quake["unseen"])
    assert quake["topics"] and quake["nearest"]


def test_the_most_novel_ones(news: Path, inside: Callable[..., Done]) -> None:
    every = lines(inside("novelty", news, *QUICK, "--all").stdout)[200:]
    best = sorted(every, key=lambda document: (-document["score"], document["number"]))[:7]
    found = lines(inside("novelty", news, *QUICK, "--top", "7").stdout)
    assert [document["id"] for document in found] == [document["id"] for document in best]
    explained = lines(inside("novelty", news, *QUICK, "--top", "7", "--explain").stdout)
    assert [document["id"] for document in explained] == [document["id"] for document in best]
    assert all("explanation" in document for document in explained)


def as_csv(path: Path) -> Path:
    rows = [f'{d["id"]};"{d["title"]}";"{d["body"]}";{d["date"]}' for d in documents(1500)]
    path.write_text("\n".join(["id;title;body;date", *rows]) + "\n")
    return path


def test_the_same_from_all_formats(news: Path, tmp_path: Path, orthostream: Run, inside: Callable[..., Done]) -> None:
    expected = inside("novelty", news, *QUICK, "--all").stdout
    assert inside("novelty", as_csv(tmp_path / "news.csv"), *QUICK, "--all").stdout == expected
    packed = tmp_path / "news.jsonl.gz"
    packed.write_bytes(gzip.compress(news.read_bytes()))
    assert inside("novelty", packed, *QUICK, "--all").stdout == expected
    plain = "".join(f"{d['title']} {d['body']}\n" for d in documents(1500)).encode()
    found = lines(orthostream("novelty", "-", "--format", "lines", *QUICK, "--all", stdin=plain).stdout)
    # A pipe is cut into blocks as it delivers, so that only rounding may differ, and scores within a block.
    scores = [[document["score"] for document in each] for each in (found, lines(expected))]
    assert np.corrcoef(*scores)[0, 1] > 0.99


def test_options_of_the_detector(news: Path, inside: Callable[..., Done]) -> None:
    plain = inside("novelty", news, *QUICK, "--all").stdout
    for option in (
        ["--contrast", "l3"],
        ["--first-story"],
        ["--correct-growth"],
        ["--half-life", "100"],
        ["--paper"],
        ["--threshold", "0.5"],
        ["--quantile", "0.9"],
        ["--false-alarms", "0.05"],
        ["--seed", "1"],
        ["--terms", "100"],
        ["--no-learn-flagged"],
    ):
        done = inside("novelty", news, *QUICK, "--all", *option)
        assert done.returncode == 0
        assert done.stdout != plain, option
    fixed = lines(inside("novelty", news, *QUICK, "--all", "--threshold", "0.5").stdout)
    assert all(document["threshold"] == 0.5 for document in fixed[200:])


def test_a_page_and_a_picture(news: Path, tmp_path: Path, inside: Callable[..., Done]) -> None:
    page, plot = tmp_path / "page.html", tmp_path / "plot.svg"
    done = inside("novelty", news, *QUICK, "--page", page, "--plot", plot)
    assert done.returncode == 0
    assert "quake 700" in page.read_text()
    assert "<svg" in plot.read_text()


def test_a_state_goes_on(news: Path, tmp_path: Path, inside: Callable[..., Done]) -> None:
    whole = lines(inside("novelty", news, *QUICK, "--all").stdout)
    content = news.read_bytes().splitlines(keepends=True)
    parts = [tmp_path / "first.jsonl", tmp_path / "second.jsonl"]
    parts[0].write_bytes(b"".join(content[:800]))
    parts[1].write_bytes(b"".join(content[800:]))
    found = []
    for part in parts:
        done = inside("novelty", part, *QUICK, "--all", "--state", tmp_path / "state")
        found += lines(done.stdout)
    assert found == whole


@pytest.mark.parametrize("with_output", [pytest.param(True, marks=pytest.mark.slow), False])
def test_interrupted_and_resumed(news: Path, tmp_path: Path, inside: Callable[..., Done], with_output: bool) -> None:
    """Ctrl-C ends with one line; the resumed run goes on as if nothing had happened."""
    expected = inside("novelty", news, *QUICK, "--all", "--explain").stdout
    state, output = tmp_path / "state", tmp_path / "out.jsonl"
    source = tmp_path / "growing.jsonl"
    content = news.read_bytes().splitlines(keepends=True)
    source.write_bytes(b"".join(content[:950]))
    common = ["novelty", str(source), *QUICK, "--all", "--explain", "--state", str(state)]
    common += ["--output", str(output)] if with_output else []
    command = [sys.executable, "-m", "orthostream.cli.main", *common, "--follow", "--resume"]
    with (tmp_path / "printed").open("wb") as printed:
        process = subprocess.Popen(command, stdout=printed, stderr=subprocess.PIPE)
    growing = output if with_output else tmp_path / "printed"
    wait_for(lambda: growing.exists() and len(growing.read_bytes().splitlines()) >= 900, process)
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=60)
    assert process.returncode == 130, told
    assert told.decode().startswith("orthostream: interrupted after 950 documents")
    source.write_bytes(b"".join(content))
    done = inside(*common, "--resume")
    assert done.returncode == 0, done.stderr
    found = output.read_bytes() if with_output else (tmp_path / "printed").read_bytes() + done.stdout
    # The interrupted run has cut the stream at document 950, where a mini-batch is not complete.
    numbers = [document["number"] for document in lines(found)]
    assert numbers == list(range(1, 1501))
    # A followed file may be cut into other blocks, which changes scores by rounding.
    scores = [[document["score"] for document in lines(each)[:900]] for each in (found, expected)]
    np.testing.assert_allclose(*scores, atol=1e-6)


def wait_for(ready: Callable[[], bool], process: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + 60
    while not ready():
        assert process.poll() is None, process.stderr.read() if process.stderr else ""
        assert time.monotonic() < end
        time.sleep(0.01)


@pytest.mark.parametrize(
    "wait", [0.05, pytest.param(0.0, marks=pytest.mark.slow), pytest.param(0.15, marks=pytest.mark.slow)]
)
def test_killed_and_resumed(news: Path, tmp_path: Path, inside: Callable[..., Done], wait: float) -> None:
    """After kill -9 the same command gives the same file, bit for bit."""
    expected = inside("novelty", news, *QUICK, "--all", "--explain", "--first-story").stdout
    state, output = tmp_path / "state", tmp_path / "out.jsonl"
    words = ["novelty", str(news), *QUICK, "--all", "--explain", "--first-story", "--state", str(state)]
    words += ["--output", str(output), "--save-every", "100", "--resume"]
    process = subprocess.Popen([sys.executable, "-m", "orthostream.cli.main", *words], stderr=subprocess.PIPE)
    end = time.monotonic() + 60
    while not state.exists() and process.poll() is None and time.monotonic() < end:
        time.sleep(0.005)
    time.sleep(wait)
    process.kill()
    process.communicate()
    assert state.exists()
    done = inside(*words)
    assert done.returncode == 0, done.stderr
    assert output.read_bytes() == expected
    # Once more: nothing is left to do, and nothing changes.
    assert inside(*words).returncode == 0
    assert output.read_bytes() == expected


def test_another_input_is_not_resumed(news: Path, tmp_path: Path, inside: Callable[..., Done]) -> None:
    state, output, other = tmp_path / "state", tmp_path / "out.jsonl", tmp_path / "other.jsonl"
    words = ["novelty", *QUICK, "--all", "--state", state, "--output"]
    assert inside(*words, output, news).returncode == 0
    before = output.read_bytes()
    other.write_text("".join(json.dumps(document) + "\n" for document in documents(1600, seed=1)))
    differs = inside(*words, output, "--resume", other)
    assert differs.returncode == 2
    assert b"differs from what" in differs.stderr
    changed = news.read_bytes().splitlines(keepends=True)
    changed[40] = json.dumps({"id": "x", "body": "something else"}).encode() + b"\n"
    other.write_bytes(b"".join(changed))
    assert b"differs from what" in inside(*words, output, "--resume", other).stderr
    other.write_bytes(b"".join(changed[:30]))
    assert b"has fewer documents than the 1,500" in inside(*words, output, "--resume", other).stderr
    elsewhere = inside(*words, tmp_path / "elsewhere.jsonl", "--resume", news)
    assert b"the interrupted run wrote to" in elsewhere.stderr
    assert output.read_bytes() == before and not (tmp_path / "elsewhere.jsonl").exists()
    foreign = tmp_path / "foreign"
    NovelDocumentDetector(n_components=12, warm_up=200).fit(["tin prices"] * 200).save(foreign, {"own": 1})
    refused = inside("novelty", *QUICK, "--state", foreign, "--resume", news)
    assert b"says nothing of an interrupted run: leave out --resume" in refused.stderr


def test_following_a_file(tmp_path: Path) -> None:
    source = tmp_path / "news.jsonl"
    source.write_text("")
    words = ["novelty", str(source), *QUICK, "--all", "--follow", "--page", str(tmp_path / "page.html")]
    process = subprocess.Popen(
        [sys.executable, "-m", "orthostream.cli.main", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None
    with source.open("a") as file:
        for number, document in enumerate(documents(30)):
            file.write(json.dumps(document) + "\n")
            file.flush()
            if number % 10 == 9:
                time.sleep(0.3)
    found = [json.loads(process.stdout.readline()) for _ in range(30)]
    process.send_signal(signal.SIGTERM)
    rest, told = process.communicate(timeout=60)
    assert rest == b""
    assert [document["id"] for document in found] == [f"d{number}" for number in range(30)]
    assert process.returncode == 130
    assert b"Traceback" not in told
    assert (tmp_path / "page.html").exists()


def test_bad_lines_are_counted_and_the_rest_goes_on(tmp_path: Path, inside: Callable[..., Done]) -> None:
    good = [json.dumps(document).encode() for document in documents(300)]
    bad = [b"{broken", b'"just text"', b"[1, 2]", b'{"body": null}', b'{"title": "only a title"}', b"\xff\xfe\xfa", b""]
    bad += [b'{"id": "d1", "title": "again", "body": "topic1word1"}', b"[" * 100_000, b'{"body": "\\ud800 tin"}']
    path = tmp_path / "mixed.jsonl"
    path.write_bytes(b"\n".join([*good[:150], *bad, *good[150:]]))
    done = inside("novelty", path, "--components", "8", "--warm-up", "100", "--all")
    assert done.returncode == 0
    assert {f"d{number}" for number in range(300)} <= {document["id"] for document in lines(done.stdout)}
    told = done.stderr.decode()
    assert "malformed lines: " in told and "(first: line 151: " in told
    assert "duplicate ids: 1" in told
    assert all(line.startswith((str(path), "orthostream: ")) for line in told.splitlines())


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["absent.jsonl"], "there is no file absent.jsonl"),
        (["."], "is a folder, not a file"),
        (["news.jsonl", "--text", "story"], "there is no field 'story'"),
        (["news.jsonl", "--resume"], "--resume needs the file that the interrupted run wrote: add --state FILE"),
        (["news.jsonl", "--all", "--top", "3"], "--all and --top both say which documents to print"),
        (["news.jsonl", "--follow", "--top", "3"], "--top prints at the end of the input"),
        (["-", "--follow"], "--follow needs the name of a file"),
        (["news.jsonl", "--output", "no/where.jsonl"], "there is no folder no to write where.jsonl to"),
        (["news.jsonl", "--output", "news.jsonl"], "must be different files"),
        (["news.jsonl", "--plot", "plot.txt"], "--plot must end in .png, .svg or .pdf"),
        (["news.jsonl", "--false-alarms", "0.5"], "rate must be a number from 0.0001 to 0.1"),
        (["news.jsonl", "--warm-up", "-3"], "warm_up must be an integer of at least 0"),
        (["news.jsonl", "--terms", "3"], "max_terms must be an integer of at least"),
        (["news.jsonl", "--state", "news.csv"], "news.csv is not a saved orthostream estimator, or is damaged"),
        (["news.jsonl", "--encoding", "klingon"], "klingon"),
        (["array.json"], "array.json"),
        (["news.jsonl", "--output", "/dev/full"], "no space left"),
    ],
    ids=str,
)
def test_what_a_user_can_fix_is_one_line(
    words: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("news.jsonl").write_text("".join(json.dumps(document) + "\n" for document in documents(300)))
    Path("array.json").write_text(json.dumps(documents(3), indent=1))
    Path("news.csv").write_text("id,body\n1,text\n")
    assert (
        main(["novelty", *words, "--warm-up", "50", "--all"] if "--warm-up" not in words else ["novelty", *words]) == 2
    )
    told = capsys.readouterr().err
    assert message in told
    assert told.count("\n") == 1
    assert told.startswith("orthostream: ")
    assert not [path.name for path in Path().iterdir() if path.name.startswith(".")]


def test_a_state_of_other_settings_is_refused(news: Path, tmp_path: Path, inside: Callable[..., Done]) -> None:
    state = tmp_path / "state"
    assert inside("novelty", news, *QUICK, "--state", state).returncode == 0
    before = state.read_bytes()
    done = inside("novelty", news, "--components", "13", "--state", state)
    assert done.returncode == 2
    assert b"was made with n_components = 12: leave the option out, or name another state file" in done.stderr
    assert state.read_bytes() == before
    changed = inside("novelty", news, "--threshold", "0.2", "--all", "--state", state)
    assert all(document["threshold"] == 0.2 for document in lines(changed.stdout))


def test_what_holds_no_document_is_an_error(tmp_path: Path, inside: Callable[..., Done]) -> None:
    path = tmp_path / "picture.jsonl"
    path.write_bytes(bytes(range(256)) * 20)
    done = inside("novelty", path)
    assert done.returncode == 2
    assert done.stderr.startswith(f"orthostream: {path}: no document can be read: ".encode())


def test_one_run_at_a_time_uses_a_state(news: Path, tmp_path: Path, inside: Callable[..., Done]) -> None:
    state = tmp_path / "state"
    with open_locked(tmp_path / "state.lock", create=True):
        done = inside("novelty", news, *QUICK, "--state", state)
    assert done.returncode == 2
    assert done.stderr == f"orthostream: another run is using {state}\n".encode()
    (tmp_path / "state.lock").unlink()
    assert inside("novelty", news, *QUICK, "--state", state).returncode == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["state"]


@pytest.mark.parametrize("option", ["--page", "--state"])
def test_devices_and_links_are_not_replaced(
    news: Path, tmp_path: Path, inside: Callable[..., Done], option: str
) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    done = inside("novelty", news, *QUICK, option, pipe)
    assert done.returncode == 2
    assert b"is no ordinary file" in done.stderr
    target, link = tmp_path / "target", tmp_path / "link"
    link.symlink_to(target)
    assert inside("novelty", news, *QUICK, option, link).returncode == 0
    assert link.is_symlink() and target.is_file()


def test_inputs_without_documents(tmp_path: Path, orthostream: Run, inside: Callable[..., Done]) -> None:
    for name in ("empty.jsonl", "empty.csv", "empty.txt"):
        path = tmp_path / name
        path.write_bytes(b"")
        done = inside("novelty", path, "--page", tmp_path / "page.html", "--state", tmp_path / "state")
        assert done.returncode == 0
        assert (tmp_path / "page.html").is_file()
        assert done.stdout == b""
        assert b"no documents" in done.stderr
    one = orthostream("novelty", "-", "--format", "lines", "--all", stdin=b"one document\n")
    assert len(lines(one.stdout)) == 1
    assert b"1 document; 0 flagged; warming up" in one.stderr


def test_a_closed_pipe_ends_the_run(news: Path) -> None:
    command = f"{sys.executable} -m orthostream.cli.main novelty {news} {' '.join(QUICK)} --all | head -n 2"
    done = subprocess.run(["bash", "-c", command], capture_output=True, check=False)
    assert len(done.stdout.splitlines()) == 2
    assert b"Traceback" not in done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists() or os.geteuid() != 0, reason="needs /dev/full")
def test_a_full_disk_leaves_the_state(news: Path, tmp_path: Path, inside: Callable[..., Done]) -> None:
    state = tmp_path / "state"
    assert inside("novelty", news, *QUICK, "--state", state).returncode == 0
    before = state.read_bytes()
    done = inside("novelty", news, *QUICK, "--all", "--state", state, "--output", "/dev/full")
    assert done.returncode == 2
    assert state.read_bytes() == before
