"""Algorithm 1 for a set, an objective and a schedule of one's own: tracking the direction of a moving antenna."""

import numpy as np

from orthostream.optimize import (
    ConvexSet,
    Objective,
    Schedule,
    StochasticFrankWolfe,
    check_objective,
    check_set,
)


class HalfDisc(ConvexSet):
    """All points of the unit disc that do not lie left of the origin."""

    def lmo(self, gradient):
        """Take the point of the circle against the gradient, or the better of the two corners."""
        norm = np.linalg.norm(gradient, axis=-1, keepdims=True)
        on_circle = -gradient / np.where(norm > 0, norm, 1)
        corner = np.stack([np.zeros_like(gradient[..., 0]), -np.sign(gradient[..., 1])], axis=-1)
        return np.where(on_circle[..., :1] >= 0, on_circle, corner)

    def contains(self, x, tolerance=1e-8):
        """Tell whether all points lie in the set."""
        return bool(np.all(x[..., 0] >= -tolerance) and np.all(np.linalg.norm(x, axis=-1) <= 1 + tolerance))

    def diameter(self, shape):
        """Return the distance of the corners."""
        return 2.0


class Correlation(Objective):
    """Minus the mean of a saturating function of the correlation: not convex."""

    core_ndim = 1

    def value(self, x, batch, weights=None):
        """Return the objective."""
        return -np.mean(np.tanh((batch @ x) ** 2))

    def gradient(self, x, batch, weights=None):
        """Return its gradient."""
        z = batch @ x
        return -batch.T @ (2 * z / np.cosh(z**2) ** 2) / len(batch)


class Steady(Schedule):
    """Average over about twenty mini-batches, for ever."""

    def weights(self, t, samples):
        """Return both weights."""
        return 0.05, 0.1


rng = np.random.default_rng(0)
check_set(HalfDisc(), (2,))
check_objective(Correlation(), rng.standard_normal(2), rng.standard_normal((50, 2)))

solver = StochasticFrankWolfe(HalfDisc(), Correlation(), Steady())
state = solver.init(np.array([1.0, 0.0]))
for t in range(1500):
    angle = 0.8 * np.sin(t / 200)
    direction = np.array([np.cos(angle), np.sin(angle)])
    batch = np.outer(rng.standard_normal(20), direction) + 0.2 * rng.standard_normal((20, 2))
    state = solver.step(state, batch)
    if t % 300 == 299:
        found = np.arctan2(state.x[1], state.x[0])
        print(f"t = {t + 1:4d}: true angle {angle:+.2f}, found {found:+.2f}, gap {float(solver.gap(state, batch)):.3f}")
