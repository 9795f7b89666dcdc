"""The tables of `orthostream bench compression`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .measure import Record, table

PAPER, SHOWN = "paper's mode", "ours, frames of 6"
_HEADS = {
    "ours, frames of 1": "ours 1",
    "ours, frames of 6": "ours 6",
    "ours, frames of 24": "ours 24",
    "ours, whole file": "ours file",
    "lzma of quantised": "lzma",
    "bz2 of quantised": "bz2",
    "zlib of quantised": "zlib",
    "quantise + pcodec": "pcodec",
    "SZ3, whole file": "SZ3",
    "SZ3, windows of 24": "SZ3 24",
    "zfp": "zfp",
}

Values = dict[tuple[str, str, str], float]


def report(records: Sequence[Record]) -> str:
    """Return all tables under a maximum error."""
    values: Values = {(r.method, r.setting, r.metric): r.value for r in records}
    settings = list(dict.fromkeys(r.setting for r in records))
    methods = [method for method in dict.fromkeys(r.method for r in records) if method != PAPER]
    parts = [
        _sizes(
            "bits per observed reading, all bytes of ours counted, the mask of missing readings among them; peers fill"
            "\ngaps with the mean of the row or the value before and pay no mask, or send it, whichever is smaller."
            "\nOurs: streams in frames of 1, 6 and 24 samples, and a whole file. Peers see the whole file,"
            "\nSZ3 24 windows of 24 samples. * is the smallest",
            "bits_per_reading",
            values,
            settings,
            methods,
        ),
        _sizes(
            "\nthe same, the mask charged to everybody: peers send it through lzma, or mark missing readings",
            "bits_per_reading_with_mask",
            values,
            settings,
            methods,
        ),
        _sizes(
            "\nbits per cell, missing or not (peers pay no mask)",
            "bits_per_cell",
            values,
            settings,
            methods,
        ),
        _speeds(values, settings, methods),
        _papers(values, settings),
        _broken(values, settings, methods),
    ]
    return "\n".join(parts)


def head(method: str) -> str:
    """Return a method's short name."""
    return _HEADS.get(method, method)


def verdict(sizes: dict[str, float]) -> str:
    """Say by how much our stream in frames of 6 is smaller than the best peer, and which way of ours is not.

    >>> verdict({"ours, frames of 1": 1.2, "ours, frames of 6": 0.9, "zfp": 2.0, "lzma of quantised": 1.0})
    'ours 6 -10 % to lzma; LOST to lzma: ours 1 +20 %'
    """
    peers = {method: size for method, size in sizes.items() if not method.startswith("ours")}
    own = {method: size for method, size in sizes.items() if method.startswith("ours")}
    if not peers or not own:
        return ""
    best = min(peers, key=peers.__getitem__)
    more = {method: 100.0 * (size / peers[best] - 1.0) for method, size in own.items()}
    lost = [f"{head(method)} {percent:+.0f} %" for method, percent in more.items() if percent >= 0.0]
    said = [f"{head(m)} {percent:.0f} % to {head(best)}" for m, percent in more.items() if m == SHOWN and percent < 0.0]
    return "; ".join(said + ([f"LOST to {head(best)}: {', '.join(lost)}"] if lost else []))


def _sizes(title: str, metric: str, values: Values, settings: list[str], methods: list[str]) -> str:
    rows = []
    for setting in settings:
        # Whoever breaks the bound is out of the contest.
        kept = {m: values[m, setting, metric] for m in methods if values[m, setting, "violations"] == 0.0}
        least = min(kept.values(), default=np.nan)
        cells = []
        for method in methods:
            size = values[method, setting, metric]
            mark = "!" if method not in kept else "*" if size == least else " "
            cells.append(f"{size:.3f}{mark}")
        rows.append((setting, [*cells, verdict(kept)]))
    return table(title, "", [*map(head, methods), ""], rows)


def _speeds(values: Values, settings: list[str], methods: list[str]) -> str:
    rows = []
    for setting in settings:
        cells = []
        for method in methods:
            speeds = [
                values.get((method, setting, f"{verb}_readings_per_second"), np.nan) for verb in ("encoded", "decoded")
            ]
            cells.append(" / ".join(_thousands(speed) for speed in speeds))
        rows.append((setting, cells))
    title = "\nthousands of readings per second, encoded / decoded, one thread; peers as set for the smallest size"
    return table(title, "", [head(method) for method in methods], rows)


def _thousands(speed: float) -> str:
    return f"{speed / 1e3:.0f}" if speed >= 1e4 else f"{speed / 1e3:.1f}"


def _papers(values: Values, settings: list[str]) -> str:
    rows = []
    for setting in settings:
        if (PAPER, setting, "rmse") not in values or (SHOWN, setting, "rmse") not in values:
            continue
        cells = [f"{values[PAPER, setting, 'eta0']:.0f}"]
        for method in (SHOWN, PAPER):
            for metric in ("bits_per_reading", "rmse", "largest_error"):
                cells.append(f"{values[method, setting, metric]:.3f}")
        ratio = values[PAPER, setting, "bits_per_reading"] / values[SHOWN, setting, "bits_per_reading"]
        worse = values[PAPER, setting, "rmse"] > values[PAPER, setting, "rmse_asked"]
        rows.append((setting, [*cells, f"{ratio:.1f}" + (", RMSE not reached" if worse else "")]))
    title = (
        "\nthe paper's mode, frames of 6, with the fewest coefficients (eta0) whose RMSE is at most that of our stream,"
        "\nor that of rounding to the sensor's own resolution where ours has less: bits per observed reading, RMSE and"
        "\nlargest error of ours, then of the paper's mode on the first 2,000 samples, and the ratio of bits"
    )
    both = ["bits", "RMSE", "largest"]
    return table(title, "", ["eta0", *both, *both, "ratio"], rows) if rows else ""


def _broken(values: Values, settings: list[str], methods: list[str]) -> str:
    lines = []
    for setting in settings:
        for method in methods:
            share = values[method, setting, "violations"]
            if share > 0.0:
                largest = values[method, setting, "largest_error"]
                lines.append(f"! {method} breaks {setting}: {100 * share:.3g} % of the readings, by up to {largest:g}")
    if lines:
        return "\n" + "\n".join(lines)
    return "\nevery size above was decompressed in this run, and every observed reading is within its bound"
