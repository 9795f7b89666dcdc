"""Algorithm 2 and section V-D as scikit-learn estimators."""

from orthostream.dictionary.first_look import UncentredRowsWarning, UninformativeRowsWarning
from orthostream.dictionary.orthogonal_dictionary_learning import OrthogonalDictionaryLearning
from orthostream.dictionary.persistence import SavedEstimatorError
from orthostream.dictionary.streaming_sparse_pca import StreamingSparsePCA

__all__ = [
    "OrthogonalDictionaryLearning",
    "SavedEstimatorError",
    "StreamingSparsePCA",
    "UncentredRowsWarning",
    "UninformativeRowsWarning",
]
