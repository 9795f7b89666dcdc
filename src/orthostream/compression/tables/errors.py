"""What goes wrong with a table."""


class TableError(ValueError):
    """A table that cannot be read or written as it is; the text names the place and what to do."""
