"""Charts as ECharts wants them: plain dictionaries, with nothing to load from elsewhere.

Tooltips are drawn, not written as HTML: names of sensors come over the network.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from orthostream._typing import FloatArray
from orthostream.compression.schema import Schema, TimeAxis
from orthostream.compression.tables.time_pattern import TICKS_PER_SECOND
from orthostream.dashboard.colours import Colours
from orthostream.dashboard.thinning import thinned
from orthostream.dashboard.view import Compared, EdgeDetail, Window

#: Points of a line.
_POINTS = 900
_TITLE_SIZE = 12

Options = dict[str, Any]


def axis_numbers(times: Any, axis: TimeAxis | None) -> FloatArray:
    """Return times as an axis has them: milliseconds since 1970, or the numbers that they are."""
    per_second = TICKS_PER_SECOND.get(axis.unit) if axis is not None else None
    ticks = np.asarray(times, dtype=np.float64)
    if per_second is None:
        return ticks * (float(axis.unit) if axis is not None and axis.unit else 1.0)
    return ticks * (1000.0 / per_second)


def readings_chart(window: Window | None, schema: Schema, span: tuple[int, int], paint: Colours) -> Options:
    """Return the readings of a window with their error band, and the originals where they are known."""
    is_time = schema.time is not None and schema.time.unit in TICKS_PER_SECOND
    low, high = axis_numbers(span, schema.time).tolist()
    series: list[Options] = []
    if window is not None:
        for k, place in enumerate(window.sensors):
            unit = schema.columns[place].unit
            name = schema.columns[place].name + (f" [{unit}]" if unit else "")
            series += _lines_of(window, k, name, schema, paint)
    return {
        "animation": False,
        "useUTC": True,
        "grid": {"left": 48, "right": 14, "top": 52, "bottom": 30},
        "legend": {
            "top": 0,
            "left": 0,
            "textStyle": {"color": paint.text},
            "inactiveColor": paint.line,
            "data": [each["name"] for each in series if not each["name"].startswith(" ")],
        },
        "tooltip": {"trigger": "axis", "renderMode": "richText", "confine": True, ":formatter": _TOOLTIP},
        "xAxis": {
            "type": "time" if is_time else "value",
            "min": low,
            "max": high if high > low else low + 1,
            **time_style(paint, is_time=is_time),
        },
        "yAxis": {
            "type": "value",
            "scale": True,
            "name": _common_unit(window, schema),
            "nameTextStyle": {"color": paint.faint, "align": "right"},
            **axis_style(paint),
        },
        "dataZoom": [{"type": "inside", "filterMode": "none"}],
        "series": series,
    }


def _lines_of(window: Window, k: int, name: str, schema: Schema, paint: Colours) -> list[Options]:
    colour = paint.series[k % len(paint.series)]
    decoded = window.decoded[:, k]
    chosen = thinned(decoded, _POINTS)
    moments = axis_numbers(window.times[chosen], schema.time)
    decoded = decoded[chosen]
    original = None if window.original is None else window.original[chosen, k]
    centre = decoded if original is None else np.where(np.isnan(original), decoded, original)
    found: list[Options] = []
    plain = {"type": "line", "symbol": "none", "silent": True, "lineStyle": {"opacity": 0}}
    if window.band is not None:
        band = window.band[chosen, k]
        # Two lines on top of each other, of which only the area between them is seen.
        stack = {"stack": f"band {k}", "stackStrategy": "all", "tooltip": {"show": False}}
        lower = {**plain, **stack, "name": f" lower {name}", "data": _points(moments, centre - band)}
        area = {"areaStyle": {"color": colour, "opacity": 0.22}}
        found += [lower, {**plain, **stack, **area, "name": f" bound {name}", "data": _points(moments, 2.0 * band)}]
        found[-1]["data"] = [
            [x, None if math.isnan(c) else y] for (x, y), c in zip(found[-1]["data"], centre.tolist(), strict=True)
        ]
    line = {"color": colour, "width": 1.6}
    found.append(
        {
            "type": "line",
            "name": f"{name} decoded",
            "symbol": "none",
            "itemStyle": {"color": colour},
            "lineStyle": line,
            "data": _points(moments, decoded),
        }
    )
    if original is not None:
        found.append(
            {
                "type": "scatter",
                "name": f"{name} original",
                "symbolSize": 3 if len(chosen) > 200 else 4,
                "itemStyle": {"color": paint.original if k == 0 else colour},
                "data": _points(moments, original),
            }
        )
    return found


def _points(moments: FloatArray, values: FloatArray) -> list[list[float | None]]:
    rounded = np.round(values, 6)
    return [[x, None if math.isnan(y) else y] for x, y in zip(moments.tolist(), rounded.tolist(), strict=True)]


def comparison_chart(compared: Sequence[Compared], paint: Colours) -> Options:
    """Return the bits per reading of this stream and of other forms, as bars."""
    names = [each.name for each in reversed(compared)]
    bars = [
        {
            "value": round(each.bits_per_reading, 3),
            "itemStyle": {"color": paint.own if each is compared[0] else paint.other},
        }
        for each in reversed(compared)
    ]
    return {
        "animation": False,
        "grid": {"left": 92, "right": 52, "top": 8, "bottom": 40},
        "tooltip": {"renderMode": "richText", "confine": True},
        "xAxis": {
            "type": "value",
            "name": "bits per reading",
            "nameLocation": "middle",
            "nameGap": 24,
            "nameTextStyle": {"color": paint.faint},
            **axis_style(paint),
        },
        "yAxis": {"type": "category", "data": names, **axis_style(paint), "axisLabel": {"color": paint.text}},
        "series": [
            {
                "type": "bar",
                "data": bars,
                "barWidth": "60%",
                "label": {"show": True, "position": "right", "color": paint.text, ":formatter": _SHORT},
            }
        ],
    }


#: What is known of a moment; lines that only bound an area have names that begin with a space.
_TOOLTIP = """(all) => {
  const shown = all.filter((p) => !p.seriesName.startsWith(' ') && p.value[1] != null);
  const head = all.length ? all[0].axisValueLabel : '';
  return [head, ...shown.map((p) => `${p.seriesName}: ${p.value[1]}`)].join('\\n');
}"""
#: Numbers with as many digits as can be read.
_SHORT = "(p) => p.value < 10 ? p.value.toFixed(2) : p.value.toFixed(1)"


def map_chart(detail: EdgeDetail, values: FloatArray, chosen: Sequence[int], paint: Colours, unit: str) -> Options:
    """Return the sensors at their places, or in their order where places are not known, coloured by some values."""
    places = detail.locations
    count = len(values)
    if places is None:
        across = max(math.ceil(math.sqrt(2 * count)), 1)
        x, y = (np.arange(count) % across).astype(float), -(np.arange(count) // across).astype(float)
    else:
        x, y = places[:, 1], places[:, 0]
    known = values[np.isfinite(values)]
    low, high = (float(known.min()), float(known.max())) if len(known) else (0.0, 1.0)
    points = []
    for k, column in enumerate(detail.schema.columns):
        value = float(values[k])
        point: Options = {"name": column.name, "value": [round(float(x[k]), 5), round(float(y[k]), 5), round(value, 3)]}
        if math.isnan(value):
            point["value"][2] = None
            point["itemStyle"] = {"color": "transparent", "borderColor": paint.faint, "borderWidth": 1}
        if k in chosen:
            point["itemStyle"] = {"borderColor": paint.text, "borderWidth": 3}
        points.append(point)
    hidden = {"type": "value", "scale": True, "show": False}
    return {
        "animation": False,
        "grid": {"left": 20, "right": 20, "top": 14, "bottom": 56},
        "tooltip": {
            "renderMode": "richText",
            "confine": True,
            ":formatter": f"(p) => `${{p.name}}: ${{p.value[2] == null ? 'no reading' : p.value[2]}} {_plain(unit)}`",
        },
        "xAxis": {**hidden, "min": float(x.min()) - _margin(x), "max": float(x.max()) + _margin(x)},
        "yAxis": {**hidden, "min": float(y.min()) - _margin(y), "max": float(y.max()) + _margin(y)},
        "visualMap": {
            "type": "continuous",
            "dimension": 2,
            "min": round(low, 3),
            "max": round(high if high > low else low + 1.0, 3),
            "orient": "horizontal",
            "left": "center",
            "bottom": 0,
            "itemHeight": 160,
            "itemWidth": 12,
            "precision": 2,
            "calculable": True,
            "textStyle": {"color": paint.text},
            "inRange": {"color": list(paint.scale)},
        },
        "series": [{"type": "scatter", "symbolSize": 15, "itemStyle": {"opacity": 1}, "data": points}],
    }


def _plain(unit: str) -> str:
    """Return a unit without characters that could end a text in a script."""
    return "".join(letter for letter in unit if letter.isalnum() or letter in "°%/. ")[:16]


def _margin(values: Any) -> float:
    return 0.06 * float(np.ptp(values)) or 0.5


def spent_chart(spent: Mapping[str, float], paint: Colours) -> Options:
    """Return what the bits were spent on, as shares of one bar."""
    total = sum(spent.values()) or 1.0
    shares = [(name, bits / total) for name, bits in sorted(spent.items(), key=lambda each: -each[1]) if bits > 0.0]
    return {
        "animation": False,
        "grid": {"left": 8, "right": 8, "top": 30, "bottom": 8},
        "legend": {"type": "scroll", "top": 0, "left": 0, "textStyle": {"color": paint.text}},
        "tooltip": {"renderMode": "richText", "confine": True},
        "xAxis": {"type": "value", "max": 100, "show": False},
        "yAxis": {"type": "category", "data": [""], "show": False},
        "series": [
            {
                "type": "bar",
                "name": name,
                "stack": "all",
                "barWidth": 26,
                "itemStyle": {"color": paint.series[k % len(paint.series)]},
                "label": {"show": share > 0.12, "formatter": f"{100 * share:.0f} %", "color": paint.background},
                "data": [round(100 * share, 2)],
            }
            for k, (name, share) in enumerate(shares)
        ],
    }


def sparkline(values: Sequence[float], *, width: int = 120, height: int = 22) -> str:
    """Return a small SVG of some numbers, in the colour of its text."""
    if len(values) < 2:
        return f'<svg width="{width}" height="{height}" aria-hidden="true"></svg>'
    low, high = min(values), max(values)
    scale = (height - 4) / ((high - low) or 1.0)
    step = width / (len(values) - 1)
    points = " ".join(f"{k * step:.1f},{height - 2 - (value - low) * scale:.1f}" for k, value in enumerate(values))
    return (
        f'<svg viewBox="0 0 {width} {height}" width="{width}" height="{height}" preserveAspectRatio="none"'
        f' aria-hidden="true"><polyline points="{points}" fill="none" stroke="currentColor" stroke-width="1.4"/></svg>'
    )


def _common_unit(window: Window | None, schema: Schema) -> str:
    units = {schema.columns[place].unit for place in (window.sensors if window is not None else ())}
    return units.pop() if len(units) == 1 else ""


def time_style(paint: Colours, *, is_time: bool) -> Options:
    """Return how a time axis looks: at the bottom, and days with their month."""
    style = axis_style(paint)
    label: Options = {"color": paint.faint, "hideOverlap": True}
    if is_time:
        label["formatter"] = {"day": "{d} {MMM}", "month": "{MMM}", "year": "{yyyy}"}
    return style | {
        "axisLine": style["axisLine"] | {"onZero": False},
        "splitLine": {"show": False},
        "axisLabel": label,
    }


def axis_style(paint: Colours) -> Options:
    """Return how axes look."""
    return {
        "axisLabel": {"color": paint.faint},
        "axisLine": {"lineStyle": {"color": paint.line}},
        "axisTick": {"lineStyle": {"color": paint.line}},
        "splitLine": {"lineStyle": {"color": paint.line}},
    }
