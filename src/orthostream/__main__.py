"""`python -m orthostream`, the same as the command `orthostream`."""

import sys

from orthostream.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
