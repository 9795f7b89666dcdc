"""One command, `orthostream`, a sub-command in each module."""
