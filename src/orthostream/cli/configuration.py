"""Values of a command from its options, from a TOML file, and by default."""

from __future__ import annotations

import argparse
import difflib
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from orthostream.cli.errors import UserError
from orthostream.cli.trouble import disk_trouble_with

#: Where a value came from.
OPTION, DEFAULT = "option", "default"
#: Options that do not belong into a file.
_NOT_IN_FILES = ("config", "check", "help")
_SECRETS = {"password": "password-file", "key": "key-file"}


class Configuration:
    """The values of a command; each may be an option, or a line of the file that --config names.

    Parameters
    ----------
    parser : ArgumentParser
        With all its options, and ``--config``. It is changed: it no longer fills in defaults.
    alone : sequence of str
        Names of which one may be given; one on the command line overrules all of them in the file.
    """

    def __init__(self, parser: argparse.ArgumentParser, alone: Sequence[str] = ()) -> None:
        self._alone = tuple(alone)
        self._actions = {
            action.dest: action for action in parser._actions if not isinstance(action, argparse._HelpAction)
        }
        self._defaults = {name: action.default for name, action in self._actions.items()}
        for action in self._actions.values():
            action.default = argparse.SUPPRESS

    def gather(self, options: argparse.Namespace) -> tuple[argparse.Namespace, dict[str, str]]:
        """Return the values, and where each of them came from."""
        given = {name: getattr(options, name) for name in self._actions if hasattr(options, name)}
        # A positional argument that may be left out is None then, whatever its default is.
        given = {name: value for name, value in given.items() if value is not None}
        path = given.get("config")
        in_file = self._read(path) if path is not None else {}
        if any(name in given for name in self._alone):
            in_file = {name: value for name, value in in_file.items() if name not in self._alone}
        origins = dict.fromkeys(self._actions, DEFAULT) | dict.fromkeys(in_file, str(path))
        return argparse.Namespace(**self._defaults | in_file | given), origins | dict.fromkeys(given, OPTION)

    def _read(self, path: str) -> dict[str, Any]:
        with disk_trouble_with(path):
            text = Path(path).read_bytes()
        try:
            plain = tomllib.loads(text.decode())
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise UserError(f"{path}: this is not TOML: {error}") from error
        values = {}
        for key, value in plain.items():
            name = key.replace("-", "_")
            if name in _SECRETS:
                raise UserError(
                    f"{path}: a {key} does not belong here; write it to a file and name that: {_SECRETS[name]}"
                )
            if isinstance(value, dict):
                raise UserError(f"{path}: there are no sections like [{key}]: write each setting on a line of its own")
            if name not in self._actions or name in _NOT_IN_FILES:
                raise UserError(f"{path}: there is no setting {key!r}{self._similar(name)}")
            if name in values:
                raise UserError(f"{path}: {key} is given twice")
            try:
                values[name] = _converted(self._actions[name], value)
            except argparse.ArgumentTypeError as error:
                raise UserError(f"{path}: {key}: {error}") from error
        values = {name: value for name, value in values.items() if value is not None}
        both = [_option(name) for name in self._alone if name in values]
        if len(both) > 1:
            raise UserError(f"{path}: of {' and '.join(both)} only one may be given")
        return values

    def _similar(self, name: str) -> str:
        names = [each for each in self._actions if each not in _NOT_IN_FILES]
        found = difflib.get_close_matches(name, names, 1)
        return f"; did you mean {_option(found[0])!r}?" if found else ""

    def explained(self, values: argparse.Namespace, origins: dict[str, str]) -> list[str]:
        """Return a line for each value: what it is, where it came from, and what it means."""
        lines = []
        for name, action in self._actions.items():
            if name in _NOT_IN_FILES:
                continue
            value = getattr(values, name)
            shown = (
                "-" if value is None or value == [] else " ".join(map(str, value)) if _is_list(value) else str(value)
            )
            meaning = (action.help or "").replace("%%", "%")
            lines.append(f"{_option(name):<20} {shown:<24} {origins[name]:<12} {meaning}")
        return lines


def _option(name: str) -> str:
    return name.replace("_", "-")


def _is_list(value: Any) -> bool:
    return isinstance(value, list | tuple)


def _converted(action: argparse.Action, value: Any) -> Any:
    """Return a value of a file as the option would have it; None if it says that the option is not given."""
    if action.nargs == 0 or isinstance(action, argparse.BooleanOptionalAction):
        if not isinstance(value, bool):
            raise argparse.ArgumentTypeError(f"must be true or false, got {value!r}")
        return value if value or isinstance(action, argparse.BooleanOptionalAction) else None
    many = action.nargs in ("+", "*") or type(action).__name__ == "_AppendAction"
    if many:
        return [_one(action, each) for each in (value if isinstance(value, list) else [value])]
    return _one(action, value)


def _one(action: argparse.Action, value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise argparse.ArgumentTypeError(f"must be a text or a number, got {value!r}")
    if action.type is None and not isinstance(value, str) and action.choices is None:
        raise argparse.ArgumentTypeError(f"must be a text in quotes, got {value!r}")
    if isinstance(action.type, type) or action.type is None:
        try:
            converted = str(value) if action.type is None else action.type(str(value))
        except ValueError:
            raise argparse.ArgumentTypeError(f"invalid value {value!r}") from None
    else:
        assert callable(action.type)
        converted = action.type(str(value))
    if action.choices is not None and converted not in action.choices:
        raise argparse.ArgumentTypeError(f"must be one of {', '.join(map(str, action.choices))}, got {value!r}")
    return converted
