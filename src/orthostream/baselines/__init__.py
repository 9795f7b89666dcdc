"""The baselines of the paper, and what a user would pick instead."""

from orthostream.baselines.dct import DCT
from orthostream.baselines.deep_stgdl import DeepSTGDL
from orthostream.baselines.fast_ica import L3FastICA
from orthostream.baselines.forgetting_pca import ForgettingPCA
from orthostream.baselines.l4 import L4DictionaryLearning
from orthostream.baselines.ncbdl import BetaBernoulliDictionaryLearning
from orthostream.baselines.offline_pca import OfflinePCA
from orthostream.baselines.online_aodl import OnlineAODL
from orthostream.baselines.sfw import SFWDictionaryLearning

__all__ = [
    "DCT",
    "BetaBernoulliDictionaryLearning",
    "DeepSTGDL",
    "ForgettingPCA",
    "L3FastICA",
    "L4DictionaryLearning",
    "OfflinePCA",
    "OnlineAODL",
    "SFWDictionaryLearning",
]
