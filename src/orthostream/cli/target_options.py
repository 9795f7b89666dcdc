"""Options that say how exact readings must be."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from orthostream.cli.arguments import count_argument, number_argument
from orthostream.cli.errors import UserError
from orthostream.cli.table_files import named_values

if TYPE_CHECKING:
    from orthostream.compression.schema import Schema

#: The options of which one may be given.
TARGETS = ("max_error", "relative_error", "rmse", "bits_per_reading", "lossless", "paper")


def add_target_options(parser: argparse.ArgumentParser) -> None:
    """Add the options, of which one may be given."""
    bound = parser.add_mutually_exclusive_group()
    bound.add_argument("--max-error", type=bound_argument, metavar="E", help="no reading is off by more than E")
    bound.add_argument(
        "--relative-error", type=bound_argument, metavar="R", help="no reading is off by more than R times itself"
    )
    bound.add_argument("--rmse", type=positive_argument, metavar="R", help="the root mean square error is at most R")
    bound.add_argument(
        "--bits-per-reading", type=positive_argument, metavar="B", help="spend about B bits on a reading"
    )
    bound.add_argument("--lossless", action="store_true", help="keep every reading exactly (the default)")
    bound.add_argument(
        "--paper", type=count_argument, metavar="ETA0", help="the paper's scheme: ETA0 coefficients per sample"
    )
    parser.add_argument(
        "--max-error-for",
        action="append",
        default=[],
        metavar="COLUMN=E",
        help="the error bound of one column; repeatable",
    )


def chosen_target(options: argparse.Namespace, schema: Schema) -> dict[str, Any]:
    """Return the keyword argument of an encoder that says how exact it must be, none if none was given."""
    try:
        pairs = named_values(options.max_error_for, "--max-error-for")
        bounds = {name: bound_argument(value) for name, value in pairs.items()}
    except argparse.ArgumentTypeError as error:
        raise UserError(f"--max-error-for: {error}") from error
    names = [column.name for column in schema.columns]
    for name in bounds:
        if name not in names:
            raise UserError(
                f"--max-error-for: there is no column {name!r}; there are {', '.join(map(repr, names[:10]))}"
            )
    if options.relative_error is not None or options.rmse is not None or options.bits_per_reading is not None:
        if bounds:
            raise UserError("--max-error-for goes with --max-error or --lossless only")
        chosen = ("relative_error", "rmse", "bits_per_reading")
        return {name: value for name in chosen if (value := getattr(options, name)) is not None}
    if options.paper is not None:
        if bounds:
            raise UserError("--max-error-for does not go with --paper, which bounds no error")
        return {"n_nonzero": options.paper}
    if options.max_error is None and not bounds and not options.lossless:
        return {}
    common = options.max_error or 0.0
    return {"max_error": [bounds.get(name, common) for name in names] if bounds else common}


def bound_argument(text: str) -> float:
    """Return a number of at least 0, as a type for argparse."""
    from orthostream._checks import at_least

    return number_argument(at_least)(text)


def positive_argument(text: str) -> float:
    """Return a number above 0, as a type for argparse."""
    from orthostream._checks import positive

    return number_argument(positive)(text)
