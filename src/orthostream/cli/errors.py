"""Errors on the user's side of the command line."""


class UserError(Exception):
    """An error that the user can fix; its text is all that is shown."""
