"""What goes wrong with a stream of documents as a whole."""


class DocumentError(ValueError):
    """No documents can be read from an input as it is; the text says what was found, and what to do.

    A single line that cannot be read is no error: it is left out and counted in `Problems`.
    """
