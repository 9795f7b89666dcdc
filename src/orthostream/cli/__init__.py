"""One command, `orthostream`, with a module for each sub-command.

Modules here import the library inside the functions that use it, so that ``--help`` answers at once.
"""
