"""What can go wrong on the link."""

from __future__ import annotations


class LinkError(Exception):
    """Something is wrong with a link: its files, its peers or its messages."""


class MessageError(LinkError):
    """A message is damaged, forged, too large, or of an unknown kind."""


class OutboxFullError(LinkError):
    """The outbox has reached its limit, and its policy is to refuse new samples."""


class StoreError(LinkError):
    """A store cannot be opened, read or written."""
