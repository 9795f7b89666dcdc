"""What people look at after a run over a stream: a page, a picture, and the collection behind both."""

from orthostream.novelty.report.page import stream_page
from orthostream.novelty.report.stream_report import StreamReport

__all__ = ["StreamReport", "stream_page"]
