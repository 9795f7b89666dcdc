"""Example 1 of the paper, the bits: sensor streams within a guaranteed error, as frames and as files."""

from orthostream.compression.arrays import compress, decompress
from orthostream.compression.errors import FrameError
from orthostream.compression.file.reader import OstReader
from orthostream.compression.file.writer import OstWriter
from orthostream.compression.schema import Column, Schema, TimeAxis
from orthostream.compression.stream.achieved import Achieved
from orthostream.compression.stream.decoder import Decoder, Readings
from orthostream.compression.stream.encoder import Encoder
from orthostream.compression.stream.framing import SentFrame
from orthostream.compression.targets import BitsPerReading, Lossless, MaxError, Paper, RelativeError, Rmse, Target

__all__ = [
    "Achieved",
    "BitsPerReading",
    "Column",
    "Decoder",
    "Encoder",
    "FrameError",
    "Lossless",
    "MaxError",
    "OstReader",
    "OstWriter",
    "Paper",
    "Readings",
    "RelativeError",
    "Rmse",
    "Schema",
    "SentFrame",
    "Target",
    "TimeAxis",
    "compress",
    "decompress",
]
