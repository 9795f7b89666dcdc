"""Documents from files, standard input and pipes: JSON lines, tables and plain lines."""

from orthostream.novelty.reading.choose_format import FORMATS
from orthostream.novelty.reading.document_reader import DocumentReader
from orthostream.novelty.reading.errors import DocumentError
from orthostream.novelty.reading.problems import Problem, Problems

__all__ = ["FORMATS", "DocumentError", "DocumentReader", "Problem", "Problems"]
