"""Targets by their names: as keywords of a function, and in the header of a stream."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from orthostream.compression.errors import FrameError
from orthostream.compression.targets.average import BitsPerReading, Rmse
from orthostream.compression.targets.max_error import MaxError
from orthostream.compression.targets.paper import Paper
from orthostream.compression.targets.relative_error import RelativeError
from orthostream.compression.targets.target import Target

_TARGETS: dict[str, Callable[[Any], Target]] = {
    each.key: each for each in (MaxError, RelativeError, Rmse, BitsPerReading, Paper)
}


def split_keywords(settings: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the keywords that name a target and are not None, and all other settings."""
    named = {name: value for name, value in settings.items() if name in _TARGETS and value is not None}
    return named, {name: value for name, value in settings.items() if name not in _TARGETS}


def choose_target(target: object, keywords: Mapping[str, Any]) -> Target:
    """Return the target if it is given as such, otherwise the one that a keyword names; exactly one must be given.

    Examples
    --------
    >>> choose_target(None, {"max_error": 0.5, "rmse": None})
    MaxError(error=0.5)
    """
    named, _ = split_keywords(keywords)
    given = [*(["target"] if target is not None else []), *named]
    if len(given) != 1:
        raise ValueError(
            f"give exactly one of {', '.join(_TARGETS)}, or a target such as MaxError(0.5); "
            f"got {', '.join(given) or 'none'}."
        )
    if target is None:
        ((name, value),) = named.items()
        return _TARGETS[name](value)
    if not isinstance(target, Target):
        raise ValueError(f"target must be an object such as MaxError(0.5) or Rmse(0.1), got {target!r}.")
    return target


def target_in_header(plain: Mapping[str, Any]) -> Target:
    """Return the target that the header of a stream names; raise FrameError if it names none that is known."""
    if len(plain) != 1 or not plain.keys() <= _TARGETS.keys():
        raise FrameError(f"the header of the stream has a target that is not known: {dict(plain)}")
    ((name, value),) = plain.items()
    try:
        return _TARGETS[name](value)
    except ValueError as error:
        raise FrameError(f"the header of the stream has a target that cannot be: {error}") from None
