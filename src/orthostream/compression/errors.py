"""What goes wrong with bytes."""


class FrameError(ValueError):
    """Bytes that are not, or are no longer, what an encoder has written; nothing was decoded from them."""
