"""What goes wrong with a table."""


class TableError(ValueError):
    """A table that cannot be read or written as it is; the text names the place and what to do.

    Parameters
    ----------
    text : str
    names_table : bool, default True
        Whether the text says which table is meant.
    """

    def __init__(self, text: str, *, names_table: bool = True) -> None:
        super().__init__(text)
        self.names_table = names_table
