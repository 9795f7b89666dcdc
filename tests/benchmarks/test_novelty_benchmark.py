"""`orthostream bench novelty`: all parts on made-up stories, measures of atoms by hand, verdicts, absent data."""

from __future__ import annotations

import argparse
import json
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.utils import Bunch

from orthostream.cli import bench
from orthostream.cli.errors import UserError
from orthostream.experiments.novelty.collection import Collection
from orthostream.experiments.novelty.estimate import Estimate
from orthostream.experiments.novelty.novelty_record import FALSE_ALARM, NoveltyRecord
from orthostream.experiments.novelty.novelty_result import NoveltyResult
from orthostream.optimize.threads import one_blas_thread


def stories(count: int = 1400) -> Bunch:
    """Return made-up stories of two sentences, with new topics now and then."""
    generator = np.random.default_rng(0)
    topics = np.minimum(generator.integers(24, size=count), generator.integers(8 + np.arange(count) // 60))
    texts = []
    for topic in topics:
        words = [f"{'abcdefghijklmnopqrstuvwxyz'[topic]}{word}" for word in generator.integers(100, 130, size=12)]
        texts.append(f"{words[0]} {words[1]}\n{' '.join(words[2:7])}. {' '.join(words[7:])}.")
    return Bunch(
        texts=texts,
        titles=[text.partition("\n")[0] for text in texts],
        topics=np.array([f"topic {topic}" for topic in topics]),
        dates=np.arange(count),
    )


@pytest.fixture
def novelty(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Return the benchmark with made-up stories and little effort."""
    module, effort = bench._load("novelty"), bench._load("novelty_effort")
    # A new process takes seconds to begin; the slow test has one.
    monkeypatch.setattr(
        bench._load("novelty_throughput"), "ProcessPoolExecutor", lambda count, _: ThreadPoolExecutor(count)
    )
    monkeypatch.setattr(module, "load_reuters", stories)
    quick = effort.QUICK._replace(
        methods=("top-8 energy", "5-NN, all the past", "share of unseen terms"),
        n_topics=3,
        n_components=12,
        nmf_iterations=3,
        stream=1000,
        marks=(200, 600),
    )
    monkeypatch.setattr(module, "QUICK", quick)
    monkeypatch.setattr(bench._load("novelty_history"), "_TIMED", 2)
    return module


def options(**changed: Any) -> argparse.Namespace:
    return argparse.Namespace(**({"quick": True, "only": None, "split": None, "json": None, "figure": None} | changed))


def test_all_parts(novelty: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "records.json"
    records = novelty.run(options(json=path))
    text = capsys.readouterr().out
    stored = json.loads(path.read_text())
    assert [set(record) for record in stored] == [{"benchmark", "method", "setting", "metric", "value"}] * len(records)
    assert {record.benchmark for record in records} == {"novelty"}
    assert all(np.isfinite(record.value) for record in records)
    values = {(r.method, r.setting, r.metric): r.value for r in records}
    assert len(values) == len(records)
    settings = {setting for _, setting, metric in values if metric == "auc"}
    assert settings == {"order of time", "groups of 1,000", *(f"introduced, n = {n}" for n in (1, 3, 10, 20))}
    for method in novelty.QUICK.methods:
        assert all(0.0 < values[method, setting, "auc"] <= 1.0 for setting in settings)
        assert values[method, "introduced, n = 3", "n_novel"] == 9.0
        for setting in settings:
            assert f"{values[method, setting, 'auc']:.3f}" in text
    assert {s for m, s, metric in values if metric == "npmi"} == {"atoms"}
    assert sum(setting.startswith("throughput") and "speed" not in metric for _, setting, metric in values) >= 20
    assert {s for m, s, _ in values if m == "5-NN, all the past" and "history" in s} == {
        "history of 200",
        "history of 600",
    }
    headings = (
        "Order of time:",
        "Introduced topics: 3 of",
        "(report half)",
        "Atoms: 12",
        "1,000 documents",
        "after so",
    )
    for heading in headings:
        assert heading in text
    assert text.count("met   ") + text.count("MISSED") == 6 + 6 + 8 + 6


@pytest.mark.parametrize(("part", "settings"), [("order", 2), ("introduced", 4), ("atoms", 1), ("history", 2)])
def test_one_part(novelty: ModuleType, part: str, settings: int, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    figure = tmp_path / "figure.png"
    records = novelty.run(options(only=part, split="tune", figure=figure))
    assert len({record.setting for record in records}) == settings
    assert figure.exists() == (part != "atoms")


def test_the_split_chooses_other_topics(novelty: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    found = []
    for split in ("tune", "report"):
        records = novelty.run(options(only="introduced", split=split))
        assert f"({split} half)" in capsys.readouterr().out
        found.append([record.value for record in records if record.metric == "auc"])
    assert found[0] != found[1]


def test_without_data_one_line_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ORTHOSTREAM_DATA", str(tmp_path))
    with pytest.raises(UserError, match=r"reuters_parsed\.csv\.gz is not in") as caught:
        bench._load("novelty").run(options())
    assert "\n" not in str(caught.value)


def test_the_slowest_rival_has_fewer_seeds(novelty: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    module = bench._load("novelty_comparison")
    seen = {}

    def watched(*_: Any, methods: Any, seeds: Any, measure_memory: bool, **__: Any) -> NoveltyResult:
        seen[methods[0].name] = (list(seeds), measure_memory)
        return NoveltyResult([])

    monkeypatch.setattr(module, "novelty_protocol", watched)
    effort = bench._load("novelty_effort").FULL
    reuters = stories()
    made = Collection.of(reuters.texts, reuters.topics)
    module._run(made, module.DateOrder(), module.METHODS, effort, measure_memory=True)
    assert len(seen) == 14 and seen["online l1 dictionary"] == ([0, 1, 2], True)
    assert all(len(seeds) == 5 for name, (seeds, _) in seen.items() if name != "online l1 dictionary")


def record(method: str, auc: float, speed: float) -> NoveltyRecord:
    estimate = Estimate.over_seeds([auc - 0.02, auc + 0.02])
    miss = np.ones(len(FALSE_ALARM))
    return NoveltyRecord(method, "a setting", (0, 1), estimate, estimate, estimate, None, None, miss, speed, None, 1, 9)


def test_verdicts_name_the_best_and_the_fastest_rival() -> None:
    module = bench._load("novelty_comparison")
    rivals = [record("slow", 0.84, 1000.0), record("fast", 0.795, 9000.0), record("wrong", 0.7, 90_000.0)]
    result = NoveltyResult([record(module.DEFAULT, 0.8, 10_000.0), record("l3", 0.9, 10_000.0), *rivals])
    lines = list(module._verdicts(result))
    assert "MISSED  a setting: -0.040, the best rival is slow" in lines[1]
    assert "MISSED  a setting: 1.11 times fast (AUC -0.005), 10,000 and 9,000 documents/s" in lines[3]
    assert "-0.040 (-0.040..-0.040)" in module._differences(result) and "+0.060" in module._differences(result)
    better = NoveltyResult([record(module.DEFAULT, 0.9, 10_000.0), record("slow", 0.895, 1000.0), rivals[1]])
    lines = list(module._verdicts(better))
    assert (
        "met     a setting: +0.005, the best rival is slow" in lines[1]
        and "met     a setting: 10.00 times slow" in lines[3]
    )
    # A rival with fewer seeds is compared on those.
    easier = record("lucky", 0.9, 1.0)._replace(seeds=(1,), auc=Estimate.over_seeds([0.9]))
    harder = result.joined(NoveltyResult([easier]))
    assert module._rivals(harder, "a setting")["lucky"] == pytest.approx(0.9 - 0.82)
    alone = NoveltyResult([record(module.DEFAULT, 0.9, 10.0), rivals[1]])
    assert "there is no such rival" in list(module._verdicts(alone))[3]


def test_measures_of_atoms() -> None:
    module = bench._load("novelty_atoms")
    counts = sparse.csr_array([[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, 0.0]])
    made = Collection(counts, np.array(["a", "a", "b", "b"]))
    # Energies: 0.8 and 0.2; 0.95 and 0.05; 1 alone; none, which does not count.
    codes = np.sqrt([[0.8, 0.2, 0.0], [0.95, 0.05, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, 0.0]])
    topics, entries = [(0, 1), (0, 2), (1,)], [(0, 1), (1, 0)]
    npmi, of_entries, active, of_8, kept, agreement = module._measures(
        module.Atoms(topics, entries, codes, codes), made
    )
    assert npmi == pytest.approx(0.0)  # 1 for the first atom, -1 for the second, none for a single word
    assert of_entries == pytest.approx(1.0)
    assert active == of_8 == pytest.approx(4.0 / 3.0)
    assert kept == pytest.approx(1.0)
    assert agreement == pytest.approx(1.0)


def test_active_coefficients_are_counted_in_whole_codes() -> None:
    """A code over all atoms counts as it is: cutting ours to a few coefficients would flatter them."""
    module = bench._load("novelty_atoms")
    counts = sparse.csr_array(np.eye(20))
    made = Collection(counts, np.array(["a", "b"] * 10))
    codes = np.ones((20, 20))
    _, _, active, of_8, *_ = module._measures(module.Atoms([(0, 1)], [(0, 1)], codes, codes), made)
    assert (active, of_8) == (18.0, 8.0)
    reuters = stories(600)
    made = Collection.of(reuters.texts, reuters.topics)
    _, rows = module._weighted(made.counts)
    ours = module._ours(made.counts, rows, "top", 20, seed=0)
    assert np.count_nonzero(ours.codes, axis=1).mean() > 8.0 and ours.codes.shape == (600, 20)
    # Orthonormal atoms: no code has more energy than its document, which has length 1.
    assert np.square(ours.codes).sum(axis=1).max() <= 1.0 + 1e-5


def test_energy_of_atoms_that_are_not_orthogonal() -> None:
    """The share that the best fit by the atoms of the largest codes explains, as least squares finds it."""
    module = bench._load("novelty_atoms")
    generator = np.random.default_rng(0)
    atoms = generator.random((12, 30))
    atoms /= np.linalg.norm(atoms, axis=1, keepdims=True)
    atoms[1] = atoms[0]
    documents = generator.random((5, 30))
    documents /= np.linalg.norm(documents, axis=1, keepdims=True)
    codes = generator.random((5, 12))
    codes[:, :2] += 1.0  # the two equal atoms are among the eight
    found = module._kept(module.Atoms([], [], codes, documents @ atoms.T, atoms @ atoms.T))
    for place, document in enumerate(documents):
        chosen = atoms[np.argsort(-codes[place])[:8]]
        fit = chosen.T @ np.linalg.lstsq(chosen.T, document, rcond=None)[0]
        assert found[place] == pytest.approx(1.0 - np.square(document - fit).sum())


def test_short_documents_are_made_of_stories() -> None:
    """A document is the title and a sentence of its story, and a sentence of one of the same topic."""
    module = bench._load("novelty_stream")
    reuters = stories(30)
    reuters.texts[3] = "only a title\n  "
    made = module.Stories.of(reuters)
    assert len(made.titles) == 29 and reuters.titles[3] not in made.titles
    topics = np.delete(reuters.topics, 3)
    blocks = list(made.blocks(250))
    assert [len(block) for block in blocks] == [100, 100, 50]
    for number, text in enumerate(text for block in blocks for text in block):
        title, own, other = text.split("\n")
        assert title == made.titles[number % 29]
        assert own in made.sentences[number % 29]
        alike = np.flatnonzero(topics == topics[number % 29])
        assert any(other in made.sentences[story] for story in alike)
    assert blocks == list(made.blocks(250)) != list(made.blocks(250, seed=1))


def test_verdicts_on_the_stream() -> None:
    module = bench._load("novelty_throughput")
    flat = [module.Tenth(12_000.0, 200.0 + (place > 0)) for place in range(10)]
    assert [line[:8].strip() for line in module._verdicts(module.VECTORS, flat)] == ["met"] * 3
    falling = [module.Tenth(20_000.0 / (1 + place), 200.0 + place) for place in range(10)]
    lines = list(module._verdicts(module.VECTORS, falling))
    assert [line[:8].strip() for line in lines] == ["MISSED"] * 3
    assert "2,000 documents/s in the slowest tenth" in lines[0] and "+5.0 MB in the second half" in lines[2]
    unknown = [tenth._replace(megabytes=None) for tenth in flat]
    assert len(list(module._verdicts(module.TEXT, unknown))) == 2


def test_columns_keep_their_words() -> None:
    module = bench._load("novelty_stream")
    columns = module.Columns(most=5)
    first, second = columns.counts(["cocoa cocoa price"]), columns.counts(["zinc price", "cocoa"])
    assert first.toarray().tolist() == [[2, 1, 0, 0, 0]]
    assert second.toarray().tolist() == [[0, 1, 1, 0, 0], [1, 0, 0, 0, 0]]


def test_command_line_offers_the_options(capsys: pytest.CaptureFixture[str]) -> None:
    parser = argparse.ArgumentParser()
    bench.add_parser(parser.add_subparsers())
    found = parser.parse_args(["bench", "novelty", "--only", "atoms", "--split", "all", "--quick"])
    assert (found.only, found.split, found.quick, found.benchmark) == ("atoms", "all", True, "novelty")
    with pytest.raises(SystemExit):
        parser.parse_args(["bench", "novelty", "--only", "nothing"])
    assert "order" in capsys.readouterr().err


@pytest.mark.slow
def test_quick_run_on_reuters(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = os.environ.get("ORTHOSTREAM_DATA")
    if not folder or not (Path(folder) / "reuters").is_dir():
        pytest.skip("ORTHOSTREAM_DATA does not name a folder with Reuters-21578")
    pytest.importorskip("matplotlib")
    figure = tmp_path / "figure.svg"
    with one_blas_thread():
        records = bench._load("novelty").run(options(figure=figure))
    assert "<svg" in figure.read_text()
    values = {(r.method, r.setting, r.metric): r.value for r in records}
    assert values["top-8 energy", "order of time", "auc"] > 0.77
    assert values["top-8 energy", "atoms", "npmi"] > values["tracked PCA", "atoms", "npmi"] + 0.1
    assert "Reuters-21578: 9,493 stories" in capsys.readouterr().out
