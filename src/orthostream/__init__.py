"""orthostream learns an orthogonal dictionary from a stream, one mini-batch at a time."""

from orthostream.dictionary import OrthogonalDictionaryLearning, StreamingSparsePCA

__version__ = "0.1.0"

__all__ = ["OrthogonalDictionaryLearning", "StreamingSparsePCA", "__version__"]
