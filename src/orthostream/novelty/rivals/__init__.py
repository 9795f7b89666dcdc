"""Other detectors of novel documents, to compare with: each scores a block of documents, then learns it."""

from orthostream.novelty.rivals.incremental_pca_residual import IncrementalPCAResidual
from orthostream.novelty.rivals.latent_semantic_residual import LatentSemanticResidual
from orthostream.novelty.rivals.nearest_neighbours import NearestNeighbours
from orthostream.novelty.rivals.online_l1_dictionary import OnlineL1Dictionary
from orthostream.novelty.rivals.outlier_detector import OutlierDetector
from orthostream.novelty.rivals.rival import Rival
from orthostream.novelty.rivals.unseen_terms import UnseenTerms

__all__ = [
    "IncrementalPCAResidual",
    "LatentSemanticResidual",
    "NearestNeighbours",
    "OnlineL1Dictionary",
    "OutlierDetector",
    "Rival",
    "UnseenTerms",
]
