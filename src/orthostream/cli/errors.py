"""What goes wrong on the user's side of the command line."""


class UserError(Exception):
    """Something that the user can mend; its text is all that is shown."""
