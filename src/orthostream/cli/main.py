"""The command `orthostream`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from orthostream import __version__
from orthostream.cli import bench, demo, reproduce
from orthostream.cli.errors import UserError


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a sub-command; return the exit code. What a user can mend is one line on standard error, and 2."""
    parser = argparse.ArgumentParser(
        prog="orthostream", description="Learn an orthogonal dictionary from a stream, and put it to work."
    )
    parser.add_argument("--version", action="version", version=f"orthostream {__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    for module in (demo, reproduce, bench):
        module.add_parser(commands)
    options = parser.parse_args(arguments)
    try:
        code: int = options.run(options)
    except UserError as error:
        print(f"orthostream: {error}", file=sys.stderr)
        return 2
    except MemoryError as error:
        print(f"orthostream: not enough memory: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt as stop:
        print(": ".join(["orthostream: interrupted", *map(str, stop.args)]), file=sys.stderr)
        return 130
    return code


if __name__ == "__main__":
    sys.exit(main())
