"""The command `orthostream`."""

from __future__ import annotations

import sys
from collections.abc import Sequence

# The exit codes that a shell reports for a program ended by Ctrl-C (128 + SIGINT) or by a closed pipe (128 + SIGPIPE).
_INTERRUPTED = 130
_PIPE_CLOSED = 141


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a sub-command and return the exit code.

    An error that the user can fix is one line on standard error, with exit code 2. Ctrl-C is one line too, also while
    modules are still being imported.
    """
    try:
        return _run(arguments)
    except KeyboardInterrupt as stop:
        print(": ".join(["orthostream: interrupted", *map(str, stop.args)]), file=sys.stderr)
        return _INTERRUPTED


def _run(arguments: Sequence[str] | None) -> int:
    # Imported here, so that `main` handles an interrupt of the imports.
    import argparse
    import os

    from orthostream import __version__
    from orthostream.cli import (
        bench,
        cloud,
        compress,
        dashboard,
        decompress,
        demo,
        edge,
        inspect_file,
        novelty,
        query,
        reproduce,
    )
    from orthostream.cli.errors import UserError
    from orthostream.cli.intermixed import IntermixedParser

    parser = argparse.ArgumentParser(
        prog="orthostream", description="Learn an orthogonal dictionary from a stream, and put it to work."
    )
    parser.add_argument("--version", action="version", version=f"orthostream {__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND", parser_class=IntermixedParser)
    for module in (compress, decompress, inspect_file, edge, cloud, query, novelty, demo, dashboard, reproduce, bench):
        module.add_parser(commands)
    options = parser.parse_args(arguments)
    try:
        code: int = options.run(options)
    except UserError as error:
        print(f"orthostream: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        # The reader of our output is gone. Python flushes standard output at exit, so send that to the null device.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _PIPE_CLOSED
    except MemoryError as error:
        print(f"orthostream: not enough memory: {error}", file=sys.stderr)
        return 2
    return code


if __name__ == "__main__":
    sys.exit(main())
