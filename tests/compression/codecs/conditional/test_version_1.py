"""Format version 1 stays alive: payloads of the golden files decode, and are encoded to the same bytes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest

from orthostream.compression import Column, decompress
from orthostream.compression.codecs.codec import Payload
from orthostream.compression.codecs.conditional.codec import ConditionalCodec
from orthostream.compression.codecs.conditional.groups import labels_of
from orthostream.compression.codecs.conditional.resolution import NO_RESOLUTION
from orthostream.compression.targets.keywords import choose_target

from ...golden_streams import FOLDER, cases

CASES = cases()
BOUNDED = [name for name, (_, words) in CASES.items() if "max_error" in words or "relative_error" in words]


class Decoded(NamedTuple):
    """A payload of a golden file, and what it was decoded to."""

    fresh: bool
    payload: Payload
    values: np.ndarray
    period: int


def payloads_of(name: str, monkeypatch: pytest.MonkeyPatch) -> list[Decoded]:
    found: list[Decoded] = []
    decode = ConditionalCodec.decode

    def spy(codec: ConditionalCodec, payload: Payload) -> np.ndarray:
        assert codec.version == 1
        fresh = codec.lattices == []
        values = decode(codec, payload)
        found.append(Decoded(fresh, payload, values, codec.period))
        return values

    monkeypatch.setattr(ConditionalCodec, "decode", spy)
    decompress((FOLDER / f"{name}.v1.ost").read_bytes())
    monkeypatch.undo()
    return found


@pytest.mark.parametrize("name", BOUNDED)
def test_golden_payloads(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rows, words = CASES[name]
    found = payloads_of(name, monkeypatch)
    assert sum(len(each.values) for each in found) == len(rows)
    columns = [Column(str(i), dtype=rows.dtype.name) for i in range(rows.shape[1])]
    target = {key: words[key] for key in words if key in ("max_error", "relative_error")}
    sender = ConditionalCodec(
        len(columns),
        bound=choose_target(None, target).bound(columns),
        period=found[0].period,
        resolutions=[NO_RESOLUTION] * len(columns) if "resolution" in words else None,
        labels=labels_of(columns),
        accelerate=False,
        version=1,
    )
    reader = ConditionalCodec(len(columns), period=found[0].period, accelerate=False, version=1)
    at = 0
    for each in found:
        if each.fresh:
            sender.restart()
            reader.restart()
        part = np.asarray(rows[at : at + len(each.values)], dtype=np.float64)
        (payload,) = sender.encode(part)
        # Frames may add zeros.
        assert payload.body.ljust(len(each.payload.body), b"\0") == each.payload.body
        assert reader.decode(each.payload).tobytes() == each.values.tobytes()
        assert sender.digest == reader.digest
        at += len(part)
