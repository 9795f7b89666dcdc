"""The command `orthostream`."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from orthostream import __version__
from orthostream.cli import bench, compress, decompress, demo, inspect_file, reproduce
from orthostream.cli.errors import UserError

# What a shell reports for a program that a closed pipe has ended.
_PIPE_CLOSED = 141


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a sub-command; return the exit code. What a user can mend is one line on standard error, and 2."""
    parser = argparse.ArgumentParser(
        prog="orthostream", description="Learn an orthogonal dictionary from a stream, and put it to work."
    )
    parser.add_argument("--version", action="version", version=f"orthostream {__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    for module in (compress, decompress, inspect_file, demo, reproduce, bench):
        module.add_parser(commands)
    options = parser.parse_args(arguments)
    try:
        code: int = options.run(options)
    except UserError as error:
        print(f"orthostream: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        # Who read the output has had enough; nothing more may be written to it, not even at the exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _PIPE_CLOSED
    except MemoryError as error:
        print(f"orthostream: not enough memory: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt as stop:
        print(": ".join(["orthostream: interrupted", *map(str, stop.args)]), file=sys.stderr)
        return 130
    return code


if __name__ == "__main__":
    sys.exit(main())
