"""A saved detector goes on as if nothing had happened."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from orthostream.dictionary.persistence import SavedEstimatorError
from orthostream.novelty import FalseAlarmRate, NovelDocumentDetector, RecentQuantile, TfIdf, WordTokenizer

News = Callable[..., tuple[list[str], np.ndarray]]

VARIANTS: dict[str, dict[str, object]] = {
    "default": {},
    "l3, first stories": {"contrast": "l3", "first_story": True, "n_recent": 50},
    "corrected, quantile": {"correct_growth": True, "threshold": RecentQuantile(0.9), "learn_flagged": False},
    "paper's weights, small vocabulary": {"weights": TfIdf(), "max_terms": 200, "term_half_life": 300.0},
}


def small(**parameters: object) -> NovelDocumentDetector:
    return NovelDocumentDetector(**({"n_components": 16, "warm_up": 100, "random_state": 0} | parameters))  # type: ignore[arg-type]


def process(detector: NovelDocumentDetector, texts: list[str]) -> list[dict[str, object]]:
    return [document.to_json() for document in detector.process(texts, explain="all")]


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("cut", [30, 130, 500, 730])
def test_goes_on_bit_for_bit(news: News, tmp_path: Path, variant: str, cut: int) -> None:
    texts, _ = news(1000)
    whole, first = small(**VARIANTS[variant]), small(**VARIANTS[variant])
    for detector in (whole, first):
        for start in range(0, cut, 10):
            process(detector, texts[start : start + 10])
    first.save(tmp_path / "state", {"n_read": cut})
    second = NovelDocumentDetector.load(tmp_path / "state")
    assert second.notes_ == {"n_read": cut}
    assert second.get_params()["threshold"] == first.get_params()["threshold"]
    for start in range(cut, 1000, 10):
        assert process(second, texts[start : start + 10]) == process(whole, texts[start : start + 10])
    np.testing.assert_array_equal(second.components_, whole.components_)
    assert second.topics() == whole.topics()
    assert second.oddities_ == whole.oddities_


def test_saving_changes_nothing(news: News, tmp_path: Path) -> None:
    texts, _ = news(600)
    plain, saved = small(), small()
    for start in range(0, 600, 30):
        saved.save(tmp_path / "state") if start else None
        assert process(saved, texts[start : start + 30]) == process(plain, texts[start : start + 30])


def test_a_matrix_without_names(counts: sparse.csr_array, tmp_path: Path) -> None:
    detector = small().fit(counts[:500])
    detector.save(tmp_path / "state")
    copy = NovelDocumentDetector.load(tmp_path / "state")
    np.testing.assert_array_equal(copy.score(counts[500:600]), detector.score(counts[500:600]))
    assert copy.topics() == detector.topics()
    with pytest.raises(ValueError, match="has seen matrices of counts, and now got texts"):
        copy.score(["text"])


def test_what_is_code_must_be_passed_again(news: News, tmp_path: Path) -> None:
    texts, _ = news(300)
    detector = small(tokenizer=WordTokenizer(stop_words=None)).fit(texts)
    detector.save(tmp_path / "state")
    with pytest.raises(ValueError, match="was saved without tokenizer: pass the same ones to load"):
        NovelDocumentDetector.load(tmp_path / "state")
    copy = NovelDocumentDetector.load(tmp_path / "state", tokenizer=WordTokenizer(stop_words=None))
    np.testing.assert_array_equal(copy.score(texts[:50]), detector.score(texts[:50]))


def test_the_threshold_can_be_changed(news: News, tmp_path: Path) -> None:
    texts, _ = news(600)
    small().fit(texts).save(tmp_path / "state")
    low = NovelDocumentDetector.load(tmp_path / "state", threshold=FalseAlarmRate(0.1)).threshold_
    assert low < NovelDocumentDetector.load(tmp_path / "state").threshold_ < np.inf


def test_what_a_detector_was_made_with_cannot_be_changed(news: News, tmp_path: Path) -> None:
    texts, _ = news(300)
    small(random_state=np.random.Generator(np.random.MT19937(3))).fit(texts).save(tmp_path / "state")
    with pytest.raises(ValueError, match="was made with its own correct_growth, n_components: only feature_names"):
        NovelDocumentDetector.load(tmp_path / "state", n_components=3, correct_growth=True)
    with pytest.raises(ValueError, match=r"threshold must be a Threshold such as"):
        NovelDocumentDetector.load(tmp_path / "state", threshold=0.5)


@pytest.fixture(scope="module")
def saved(news: News, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    texts, _ = news(330)
    path = tmp_path_factory.mktemp("saved") / "state"
    small(max_terms=100).fit(texts[:300]).partial_fit(texts[300:]).save(path)
    return path.read_bytes()


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_damaged_files_are_refused(saved: bytes, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    """The zip file has checksums, so that no damage within an array goes unnoticed."""
    content = bytearray(saved)
    kind = data.draw(st.sampled_from(["cut", "changed", "replaced"]))
    place = data.draw(st.integers(0, len(content) - 1))
    if kind == "cut":
        content = content[:place]
    elif kind == "changed":
        content[place] ^= 1 << data.draw(st.integers(0, 7))
    else:
        content[place : place + 50] = data.draw(st.binary(min_size=50, max_size=50))
    path = tmp_path_factory.mktemp("damaged") / "state"
    path.write_bytes(content)
    try:
        detector = NovelDocumentDetector.load(path)
    except SavedEstimatorError:
        return
    # Fields of the zip file that nobody reads.
    assert np.isfinite(detector.score(["topic1word1 topic1word2 common3"])).all()


def rewritten(saved: bytes, path: Path, change: Callable[[dict[str, object], dict[str, np.ndarray]], None]) -> Path:
    """Write a saved detector with sound checksums but changed content."""
    source = path / "before"
    source.write_bytes(saved)
    with np.load(source) as archive:
        arrays = {name: archive[name] for name in archive.files}
    header = json.loads(arrays["header"].tobytes())
    change(header, arrays)
    arrays["header"] = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    with (path / "after").open("wb") as file:
        np.savez(file, **arrays)  # type: ignore[arg-type]
    return path / "after"


@pytest.mark.parametrize(
    "change",
    [
        lambda header, arrays: header["parameters"].update(n_components=17),
        lambda header, arrays: header["parameters"].update(max_terms=16),
        lambda header, arrays: header["parameters"].update(threshold={"class": "os", "parameters": {}}),
        lambda header, arrays: header["parameters"].update(unknown=1),
        lambda header, arrays: header.pop("level"),
        lambda header, arrays: header.update(level=["a", "b", "c"]),
        lambda header, arrays: header.update(random={"bit_generator": "None"}),
        lambda header, arrays: header.update(n_pending=3),
        lambda header, arrays: header.update(takes_text="yes"),
        lambda header, arrays: header.update(counts=[-5, 0, 10.0]),
        lambda header, arrays: header.update(oddities={"empty": "many"}),
        lambda header, arrays: arrays.update({"topics": np.zeros(3)}),
        lambda header, arrays: arrays.update({"vocabulary/frequencies": -arrays["vocabulary/frequencies"]}),
        lambda header, arrays: arrays.update({"vocabulary/frequencies": arrays["vocabulary/frequencies"][1:]}),
        lambda header, arrays: arrays.update({"recent/indices": arrays["recent/indices"] + 10**6}),
        lambda header, arrays: arrays.update({"recent/shape": np.array([10**9, 10**9])}),
        lambda header, arrays: arrays.update({"state/x/used": arrays["state/x/used"] + 10**6}),
        lambda header, arrays: arrays.update({"state/x/gram": arrays["state/x/gram"][:3]}),
        lambda header, arrays: arrays.update({"state/x/rows": arrays["state/x/rows"] * np.nan}),
        lambda header, arrays: arrays.update({"state/x/right": arrays["state/x/right"] * np.inf}),
        lambda header, arrays: arrays.update({"threshold": np.full(5, np.nan)}),
        lambda header, arrays: arrays.pop("words"),
    ],
)
def test_hostile_content_is_refused(saved: bytes, tmp_path: Path, change: Callable[..., None]) -> None:
    path = rewritten(saved, tmp_path, change)
    with pytest.raises(SavedEstimatorError, match="is damaged"):
        NovelDocumentDetector.load(path)


def test_other_files(tmp_path: Path) -> None:
    path = tmp_path / "text"
    path.write_text("no detector")
    with pytest.raises(SavedEstimatorError, match="is not a saved orthostream estimator, or is damaged"):
        NovelDocumentDetector.load(path)
    with pytest.raises(FileNotFoundError):
        NovelDocumentDetector.load(tmp_path / "absent")
    from orthostream import OrthogonalDictionaryLearning

    OrthogonalDictionaryLearning(batch_size=5).fit(np.random.default_rng(0).standard_normal((50, 4))).save(path)
    with pytest.raises(SavedEstimatorError, match="holds 'OrthogonalDictionaryLearning', not a NovelDocumentDetector"):
        NovelDocumentDetector.load(path)
