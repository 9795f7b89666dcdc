"""The arithmetic of the codecs: the same bits on every machine, plain or compiled.

Every function here is written once, over scalars and rows of arrays, with nothing but + - * /, square roots,
comparisons, rounding and integers, in an order that is fixed by the text. NumPy runs it as it stands; where Numba is
installed, `orthostream._compile` runs the same text as machine code, without reassociation or fused operations.
"""
