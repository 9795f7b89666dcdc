"""Charts of a dictionary that is learnt: its atoms, the Frank-Wolfe gap and the epochs."""

from __future__ import annotations

import numpy as np

from orthostream._typing import FloatArray
from orthostream.compression.schema import Schema, TimeAxis
from orthostream.compression.tables.time_pattern import TICKS_PER_SECOND
from orthostream.dashboard.charts import Options, axis_numbers, axis_style, time_style
from orthostream.dashboard.colours import Colours
from orthostream.dashboard.view import LearntDictionary

#: Atoms, and sensors, of a dictionary that are drawn.
MOST_ATOMS = 64
#: What a cell of the heat map says.
_WEIGHT = "(p) => `atom ${p.value[1]}, ${p.name}: ${p.value[2]}`"


def atoms_chart(components: FloatArray, schema: Schema, paint: Colours) -> Options:
    """Return a dictionary as a heat map: an atom in each row, a sensor in each column."""
    order = np.argsort(np.argmax(np.abs(components), axis=1), kind="stable")
    shown = np.round(components[order][:MOST_ATOMS, :MOST_ATOMS], 3)
    most = float(np.abs(shown).max(initial=0.0)) or 1.0
    cells = [[k, j, weight] for j, row in enumerate(shown.tolist()) for k, weight in enumerate(row)]
    names = [column.name for column in schema.columns[: shown.shape[1]]]
    hidden = {"axisLabel": {"show": False}, "axisTick": {"show": False}, "nameLocation": "middle", "nameGap": 8}
    named = {"nameTextStyle": {"color": paint.faint}, "axisLine": {"lineStyle": {"color": paint.line}}}
    return {
        "animation": False,
        "grid": {"left": 30, "right": 12, "top": 8, "bottom": 62},
        "tooltip": {"renderMode": "richText", "confine": True, ":formatter": _WEIGHT},
        "xAxis": {"type": "category", "data": names, "name": "sensors", **hidden, **named},
        "yAxis": {
            "type": "category",
            "data": [str(atom) for atom in order[: len(shown)].tolist()],
            "inverse": True,
            "name": "atoms",
            **hidden,
            **named,
        },
        "visualMap": {
            "min": -most,
            "max": most,
            "orient": "horizontal",
            "left": "center",
            "bottom": 0,
            "itemHeight": 160,
            "itemWidth": 12,
            "precision": 2,
            "calculable": True,
            "textStyle": {"color": paint.text},
            "inRange": {"color": [paint.series[1], paint.background, paint.series[0]]},
        },
        "series": [{"type": "heatmap", "data": cells, "progressive": 0}],
    }


def learning_chart(learning: LearntDictionary, axis: TimeAxis | None, paint: Colours) -> Options:
    """Return the Frank-Wolfe gap and the epoch over time."""
    is_time = axis is not None and axis.unit in TICKS_PER_SECOND
    gaps, sent = ([[time, value] for time, value in each] for each in (learning.gaps, learning.sent))
    moments = [each[0] for each in (*gaps, *sent)]
    if sent and moments:
        sent.append([max(moments), learning.epoch])
    for each in (gaps, sent):
        for point, moment in zip(each, axis_numbers([point[0] for point in each], axis).tolist(), strict=True):
            point[0] = moment
    titles = {"nameTextStyle": {"color": paint.faint}, **axis_style(paint)}
    line = {"type": "line", "symbol": "none"}
    return {
        "animation": False,
        "useUTC": True,
        "grid": {"left": 56, "right": 44, "top": 62, "bottom": 30},
        "legend": {"top": 0, "left": 0, "textStyle": {"color": paint.text}},
        "tooltip": {"trigger": "axis", "renderMode": "richText", "confine": True},
        "xAxis": {
            "type": "time" if is_time else "value",
            "scale": True,
            **time_style(paint, is_time=is_time),
        },
        "yAxis": [
            {"type": "log", "name": "gap", **titles},
            {"type": "value", "name": "epoch", "minInterval": 1, **titles, "splitLine": {"show": False}},
        ],
        "series": [
            {
                **line,
                "name": "Frank-Wolfe gap",
                "symbol": "circle",
                "symbolSize": 4,
                "itemStyle": {"color": paint.series[0]},
                "lineStyle": {"color": paint.series[0], "width": 1.6},
                "data": [[x, float(f"{gap:.3g}")] for x, gap in gaps if gap > 0.0],
            },
            {
                **line,
                "name": "epoch",
                "yAxisIndex": 1,
                "step": "end",
                "itemStyle": {"color": paint.series[1]},
                "lineStyle": {"color": paint.series[1], "width": 1, "type": "dashed"},
                "data": sent,
            },
        ],
    }
