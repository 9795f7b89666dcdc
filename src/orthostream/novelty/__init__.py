"""Novel documents in a stream of text: Example 2 of the paper."""

from orthostream.novelty.detector import NovelDocumentDetector
from orthostream.novelty.document import Document
from orthostream.novelty.explanation import EarlierDocument, Explanation, TermShare, TopicShare
from orthostream.novelty.scored_document import ScoredDocument
from orthostream.novelty.term_weights import DampedInverseFrequency, TermWeights, TfIdf
from orthostream.novelty.thresholds import FalseAlarmRate, FixedThreshold, RecentQuantile, Threshold
from orthostream.novelty.word_tokenizer import WordTokenizer

__all__ = [
    "DampedInverseFrequency",
    "Document",
    "EarlierDocument",
    "Explanation",
    "FalseAlarmRate",
    "FixedThreshold",
    "NovelDocumentDetector",
    "RecentQuantile",
    "ScoredDocument",
    "TermShare",
    "TermWeights",
    "TfIdf",
    "Threshold",
    "TopicShare",
    "WordTokenizer",
]
