"""What a user asks for: an error for every reading, an error on average, a budget of bits, or the paper's scheme."""

from orthostream.compression.targets.average import BitsPerReading, Rmse
from orthostream.compression.targets.error_bound import ErrorBound
from orthostream.compression.targets.max_error import Lossless, MaxError
from orthostream.compression.targets.paper import Paper
from orthostream.compression.targets.relative_error import RelativeError
from orthostream.compression.targets.target import Target

__all__ = ["BitsPerReading", "ErrorBound", "Lossless", "MaxError", "Paper", "RelativeError", "Rmse", "Target"]
