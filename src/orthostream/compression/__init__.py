"""Example 1 of the paper, the bits: sensor streams within a guaranteed error, as frames and as files."""

from orthostream.compression.achieved import Achieved
from orthostream.compression.arrays import compress, decompress
from orthostream.compression.decoder import Decoder, Readings
from orthostream.compression.encoder import Encoder
from orthostream.compression.errors import FrameError
from orthostream.compression.ost_reader import OstReader
from orthostream.compression.ost_writer import OstWriter
from orthostream.compression.schema import Column, Schema, TimeAxis

__all__ = [
    "Achieved",
    "Column",
    "Decoder",
    "Encoder",
    "FrameError",
    "OstReader",
    "OstWriter",
    "Readings",
    "Schema",
    "TimeAxis",
    "compress",
    "decompress",
]
