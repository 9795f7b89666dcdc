"""What tests of stores share: a PostgreSQL server."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator

import pytest

from ..postgres_server import running_postgres, with_schema

_NUMBERS = itertools.count()


@pytest.fixture(scope="session")
def postgres_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of an empty database of a real server."""
    pytest.importorskip("psycopg", reason="psycopg is not installed")
    with running_postgres(tmp_path_factory.mktemp("server")) as url:
        yield url


@pytest.fixture
def new_postgres(postgres_url: str) -> Callable[[], str]:
    """A function that returns the URL of a place for a new store."""
    return lambda: with_schema(postgres_url, f"store_{next(_NUMBERS)}")
