"""The memory of a hand-over for each problem: named numbers, and running means of atoms and of pairs of atoms.

The names are indices into an array, or into a list where Python runs the decisions on plain numbers.
"""

from __future__ import annotations

#: Mini-batches seen that were not all zero.
STEPS = 0
#: 0 for the lp contrast, 1 for spike and slab.
PHASE = 1
#: The clock of the running mean of gradients: its weights are c / (age + c - 1).
AGE = 2
#: Running mean of the gates.
OPEN = 3
#: Running mean of gate times squared coefficient.
SIGNAL = 4
#: Running mean of the squared coefficient.
ENERGY = 5
#: Running mean of |z|^(p-2), to which the curvature of the lp contrast is proportional.
BEND = 6
#: Sum of the squared weights of the mean force: its variance, in units of one mini-batch's variance.
TRUST = 7
#: By how many nats a plain normal distribution has lately been more likely than spike and slab.
EVIDENCE = 8
#: Running mean of the ratio of the spike to the slab.
LEVEL = 9
#: That ratio when the clock was last set back because of it.
MARK = 10
#: Number of abrupt changes of the stream.
CHANGES = 11
#: The two atoms whose gates are the most correlated.
FIRST = 12
SECOND = 13
#: By how many nats that pair, turned by 45 degrees, has lately been more likely.
TURN = 14
#: Samples per atom during which a stuck pair kept the lp contrast in force.
WAITED = 15
#: Correlation of two gates, beyond the usual limit, that is accepted as a property of the data.
TOLERATED = 16
#: For samples of unit length: running means of the gates and of gate times squared coefficient, and by how many nats a
#: coefficient spike and slab is more likely than a Laplacian of each atom's own scale.
UNIT_OPEN = 17
UNIT_SIGNAL = 18
ADVANTAGE = 19
#: The largest correlation of two gates, when it was last looked at.
ALIKE = 20

#: The number of numbers.
COUNT = 21

#: Running means of each atom: the gate, the squared coefficient, |z|^p (the pull of the lp contrast along the atom),
#: gate times squared coefficient (the pull of spike and slab along it), and |z| for samples of unit length.
GATE, SQUARE, BENT, GATED, UNIT_SIZE = 0, 1, 2, 3, 4
#: The number of rows of such means.
ROWS = 5

#: Running means of each pair of atoms: gate times gate, the force that turns the pair, and its square.
TOGETHER, FORCE, POWER = 0, 1, 2
