"""The dashboard for Grafana: its queries run on a real database, as a user that may only read."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from orthostream.link.store import Batch

from .test_store import message, opening

psycopg = pytest.importorskip("psycopg", reason="psycopg is not installed")

from orthostream.link.store.postgres import PostgresStore  # noqa: E402

FOLDER = Path(__file__).parents[3] / "deploy" / "grafana"
START = 1_500_000_000
SENSORS = ("a", "it's")


def dashboard() -> dict[str, Any]:
    board: dict[str, Any] = json.loads((FOLDER / "dashboards" / "orthostream.json").read_text())
    return board


def queries() -> dict[str, str]:
    board = dashboard()
    variables = {each["name"]: each["query"] for each in board["templating"]["list"]}
    return variables | {panel["title"]: target["rawSql"] for panel in board["panels"] for target in panel["targets"]}


def expanded(query: str) -> str:
    """Return a query as Grafana sends it."""
    query = re.sub(
        r"\$__timeGroupAlias\(([^,]+), *\$__interval\)", r'floor(extract(epoch from \1)/60)*60 AS "time"', query
    )
    for old, new in {
        "$__timeFrom()": "'2017-07-14T02:40:00Z'",
        "$__timeTo()": "'2017-07-14T02:42:00Z'",
        "${edge:sqlstring}": "'roof'",
        "${sensor:sqlstring}": "'a','it''s'",
    }.items():
        query = query.replace(old, new)
    assert "$" not in query, query
    return query


@pytest.fixture
def answers(new_postgres: Callable[[], str]) -> dict[str, list[Any]]:
    """What each query finds, run by a user with the rights of deploy/postgres-reader.sh."""
    url = new_postgres()
    with PostgresStore(url) as store:
        values = np.array([[1.0, 10.0], [3.0, np.nan], [5.0, 30.0], [7.0, 40.0]])
        times = START + np.array([0, 30, 60, 120])
        store.add(Batch([opening(sensors=SENSORS)], [message(0, values, times, 0)]))
        store.add(Batch([opening("cellar", sensors=("c",))], [message(0, [[9.0]], [START], 0, "cellar")]))
    found = {}
    with psycopg.connect(url) as connection:
        (schema,) = connection.execute("SELECT current_schema()").fetchone()
        role = f"reader_{schema}"
        connection.execute(f"CREATE ROLE {role}")
        connection.execute(f"GRANT USAGE ON SCHEMA {schema} TO {role}")
        connection.execute(f"GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO {role}")
        connection.execute(f"SET LOCAL ROLE {role}")
        connection.execute("SET TRANSACTION READ ONLY")
        for name, query in queries().items():
            found[name] = connection.execute(expanded(query)).fetchall()
    return found


def test_every_query_finds_what_it_should(answers: dict[str, list[Any]]) -> None:
    assert answers["edge"] == [("cellar",), ("roof",)]
    assert answers["sensor"] == [("a",), ("it's",)]
    assert sorted((float(time), sensor, value) for time, sensor, value in answers["Readings of $edge"]) == [
        (START, "a", 2.0),
        (START, "it's", 10.0),
        (START + 60, "a", 5.0),
        (START + 60, "it's", 30.0),
    ]
    last = [(sensor, unit, time.timestamp(), value) for sensor, unit, time, value in answers["Last readings of $edge"]]
    assert last == [("a", "degC", START + 120, 7.0), ("it's", "degC", START + 120, 40.0)]
    assert [row[0] for row in answers["Edges"]] == ["cellar", "roof"]
    assert [float(x) for x in answers["Edges"][1][1:]] == [1, 1, 4, 7, 9, 10.29]


def test_the_dashboard_uses_the_datasource_that_comes_along() -> None:
    text = (FOLDER / "datasources" / "orthostream.yaml").read_text()
    board = dashboard()
    used = {
        (each["datasource"]["type"], each["datasource"]["uid"])
        for each in [*board["panels"], *board["templating"]["list"]]
    }
    ((kind, uid),) = used
    assert f"type: {kind}\n" in text and f"uid: {uid}\n" in text
    assert "password: $" in text
    assert len({panel["id"] for panel in board["panels"]}) == len(board["panels"])


def test_names_are_always_quoted() -> None:
    """A sensor can have any name: ``$sensor`` without a format would become a part of the query."""
    for query in queries().values():
        assert re.findall(r"\$\{?(?:edge|sensor)\b(?!:sqlstring\})", query) == []
