"""Synthetic streams with a known dictionary, a simulated city, the paper's data set, weather stations, and news."""

from orthostream.datasets.airly import load_airly
from orthostream.datasets.bernoulli_gaussian import make_bernoulli_gaussian
from orthostream.datasets.city import make_city
from orthostream.datasets.data_folder import DataFolderError
from orthostream.datasets.drifting_dictionary import DriftingDictionary
from orthostream.datasets.noaa import load_noaa
from orthostream.datasets.reuters import load_reuters
from orthostream.datasets.sparse_component import make_sparse_component

__all__ = [
    "DataFolderError",
    "DriftingDictionary",
    "load_airly",
    "load_noaa",
    "load_reuters",
    "make_bernoulli_gaussian",
    "make_city",
    "make_sparse_component",
]
