"""Novel documents: three thousand headlines about the same few things, and an earthquake."""

import numpy as np

from orthostream import NovelDocumentDetector
from orthostream.novelty import FixedThreshold

rng = np.random.default_rng(0)
ROUTINE = [
    "{company} quarterly net profit rises to {n} mln dlrs on higher sales",
    "{company} sets quarterly dividend of {n} cts a share payable in april",
    "cocoa prices rise {n} dlrs a tonne as ghana harvest falls short",
    "central bank cuts discount rate to {n} pct after weak inflation data",
    "crude oil output of opec members rises by {n} thousand barrels a day",
]
COMPANIES = ["Alpine", "Borealis", "Cobalt", "Dunmore", "Estuary"]


def headline():
    return str(rng.choice(ROUTINE)).format(company=rng.choice(COMPANIES), n=rng.integers(2, 99))


stream = [headline() for _ in range(3000)]
stream[2500] = "strong earthquake shakes the coast near the capital, hundreds leave their homes"
stream[2510] = "aftershocks of the earthquake close ports along the coast"

detector = NovelDocumentDetector(n_components=16, threshold=FixedThreshold(0.6), random_state=0)
for start in range(0, len(stream), 100):
    for document in detector.process(stream[start : start + 100]):
        if document.novel:
            words = ", ".join(term for term, share in document.explanation.terms)
            print(f"{document.number}: score {document.score:.2f}  {document.title}\n      what is new: {words}")

print("topics:")
for words in detector.topics(n_words=5)[:5]:
    print("  " + ", ".join(words))
