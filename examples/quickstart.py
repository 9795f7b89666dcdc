"""Learn a dictionary from a stream, save it, go on, and compress with it."""

import tempfile
from pathlib import Path

import numpy as np

from orthostream import OrthogonalDictionaryLearning
from orthostream.datasets import make_bernoulli_gaussian
from orthostream.metrics import recovery_error

data = make_bernoulli_gaussian(n_samples=20_000, n_features=16, sparsity=0.2, random_state=1)
learner = OrthogonalDictionaryLearning(n_nonzero=4, random_state=0)

for rows in np.split(data.samples[:10_000], 1000):  # a mini-batch of ten at a time
    learner.partial_fit(rows)
print(f"after 1,000 mini-batches the error is {recovery_error(learner.components_, data.components):.1e}")

with tempfile.TemporaryDirectory() as folder:
    learner.save(Path(folder) / "learner")
    learner = OrthogonalDictionaryLearning.load(Path(folder) / "learner")

for rows in np.split(data.samples[10_000:], 1000):
    learner.partial_fit(rows)
print(f"after 2,000 mini-batches the error is {recovery_error(learner.components_, data.components):.1e}")

codes = learner.transform(data.samples[-100:])  # four numbers a sample, twelve zeros
restored = learner.inverse_transform(codes)
share = 1 - np.sum((restored - data.samples[-100:]) ** 2) / np.sum(data.samples[-100:] ** 2)
print(f"four of sixteen coefficients hold {100 * share:.1f} % of the energy")
