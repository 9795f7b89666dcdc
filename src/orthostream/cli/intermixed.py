"""Files and options of a command in any order."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any


class IntermixedParser(argparse.ArgumentParser):
    """Takes ``compress IN --max-error 0.5 OUT`` as well as ``compress IN OUT --max-error 0.5``."""

    def __init__(self, *arguments: Any, **keywords: Any) -> None:
        super().__init__(*arguments, **keywords)
        self._is_mixing = False

    def parse_known_args(self, args: Sequence[str] | None = None, namespace: Any = None) -> Any:  # type: ignore[override]
        """Return the options and what is left, as argparse does."""
        has_commands = any(action.nargs == argparse.PARSER for action in self._actions)
        if self._is_mixing or has_commands:
            return super().parse_known_args(args, namespace)
        # The call below comes back here.
        self._is_mixing = True
        try:
            return self.parse_known_intermixed_args(args, namespace)
        finally:
            self._is_mixing = False
