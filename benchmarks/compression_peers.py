"""Other compressors, each with the best of its settings: part of `orthostream bench compression`."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .compression_case import Case, CaseResult, Quality, mask_bytes, quality
from .compression_coders import BZ2, LZMA, PCODEC, ZLIB
from .compression_fields import SZ3, SZ3_WINDOWS, ZFP
from .compression_integers import LEFT_OUT, MARKED
from .compression_peer import Peer
from .measure import best_time

PEERS = (LZMA, BZ2, ZLIB, PCODEC, SZ3, SZ3_WINDOWS, ZFP)


class Tried(NamedTuple):
    """What a setting came to."""

    n_bytes: int
    n_bytes_with_mask: int
    setting: Any


class Best(NamedTuple):
    """A peer's result, and the setting that it was reached with."""

    result: CaseResult
    setting: Any


def best_result(peer: Peer, case: Case, *, quick: bool) -> Best:
    """Search a peer's settings, and measure the best of those that keep the bound."""
    tried = [_tried(case, setting, peer.encode(case, setting)[0]) for setting in peer.settings(quick)]
    for count, vary in peer.stages:
        best = [
            candidate.setting for size in (_without_mask, _with_mask) for candidate in sorted(tried, key=size)[:count]
        ]
        known = {candidate.setting for candidate in tried}
        varied = dict.fromkeys(variation for setting in best for variation in vary(setting))
        tried += [_tried(case, setting, peer.encode(case, setting)[0]) for setting in varied if setting not in known]
    chosen, found = _first_within_bound(peer, case, sorted(tried, key=_without_mask))
    # Where the mask is charged, another setting may be the best one.
    masked, _ = _first_within_bound(peer, case, sorted(tried, key=_with_mask))
    setting = chosen.setting
    body, known = peer.encode(case, setting)
    repeat = 1 if quick else 3
    encode = best_time(lambda: peer.encode(case, setting), repeat=repeat)
    decode = best_time(lambda: peer.decode(case, setting, body, known), repeat=repeat)
    sizes = chosen.n_bytes, masked.n_bytes_with_mask
    return Best(CaseResult(peer.name, words(setting), *sizes, found, encode, decode), setting)


def result_of(peer: Peer, case: Case, setting: Any) -> CaseResult:
    """Measure a peer with one setting, without taking times."""
    body, known = peer.encode(case, setting)
    found = quality(case, peer.decode(case, setting, body, known))
    tried = _tried(case, setting, body)
    return CaseResult(peer.name, words(setting), tried.n_bytes, tried.n_bytes_with_mask, found, np.nan, np.nan)


def words(setting: Any) -> str:
    """Return a setting in words, without what is as usual.

    >>> from benchmarks.compression_coders import BytesSetting, Layout
    >>> words(BytesSetting(Layout(order="time"), lc=0))
    'fill row mean, order time, delta none, lc 0'
    """
    layout = setting.layout if hasattr(setting, "layout") else setting
    said = [f"{name} {value}" for name, value in zip(layout._fields[:3], layout[:3], strict=True)]
    for part in dict.fromkeys((layout, setting)):
        for name, value in part._asdict().items():
            if f"{name} {value}" not in said and name != "layout" and value != part._field_defaults[name]:
                said.append(f"{name} {value}")
    return ", ".join(said)


def _without_mask(tried: Tried) -> int:
    return tried.n_bytes


def _with_mask(tried: Tried) -> int:
    return tried.n_bytes_with_mask


def _tried(case: Case, setting: Any, body: bytes) -> Tried:
    n_bytes, mask = len(body), mask_bytes(case)
    if setting.fill == MARKED:
        mask = 0
    # What leaves readings out cannot be decoded at all without the mask.
    return Tried(n_bytes + (mask if setting.fill == LEFT_OUT else 0), n_bytes + mask, setting)


def _first_within_bound(peer: Peer, case: Case, tried: list[Tried]) -> tuple[Tried, Quality]:
    """Return the smallest that keeps the bound; if none does, that which breaks it least."""
    least: tuple[Tried, Quality] | None = None
    for candidate in tried:
        body, known = peer.encode(case, candidate.setting)
        found = quality(case, peer.decode(case, candidate.setting, body, known))
        if found.violations == 0.0:
            return candidate, found
        if least is None or found.violations < least[1].violations:
            least = candidate, found
    assert least is not None
    return least
