"""orthostream learns an orthogonal dictionary from a stream, one mini-batch at a time."""

from typing import TYPE_CHECKING

__version__ = "0.1.0"

__all__ = ["NovelDocumentDetector", "OrthogonalDictionaryLearning", "StreamingSparsePCA", "__version__"]

if TYPE_CHECKING:
    from orthostream.dictionary import OrthogonalDictionaryLearning, StreamingSparsePCA
    from orthostream.novelty import NovelDocumentDetector
else:
    _ESTIMATORS = {
        "NovelDocumentDetector": "novelty",
        "OrthogonalDictionaryLearning": "dictionary",
        "StreamingSparsePCA": "dictionary",
    }
    _PACKAGES = ("baselines", "compression", "datasets", "dictionary", "experiments", "metrics", "novelty", "optimize")

    def __getattr__(name):
        """Import estimators and sub-packages on first use: scikit-learn and SciPy take a second to load."""
        import importlib

        if name in _PACKAGES:
            return importlib.import_module(f"orthostream.{name}")
        if name not in _ESTIMATORS:
            raise AttributeError(f"module 'orthostream' has no attribute {name!r}")
        value = globals()[name] = getattr(importlib.import_module(f"orthostream.{_ESTIMATORS[name]}"), name)
        return value

    def __dir__():
        return sorted({*globals(), *_ESTIMATORS, *_PACKAGES})
