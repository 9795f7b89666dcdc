"""Named arrays stored one after another in a single array, which is cheap to pass to compiled code and back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from math import prod
from typing import Any

import numpy as np

from orthostream._typing import FloatArray


class Layout:
    """The names and shapes of the arrays of a block, in order.

    Examples
    --------
    >>> layout = Layout(gradient=(2, 2), steps=())
    >>> layout.size, layout.zeros(())["gradient"].shape
    (5, (2, 2))
    """

    def __init__(self, **shapes: tuple[int, ...]) -> None:
        self.shapes = shapes

    @cached_property
    def places(self) -> dict[str, slice]:
        """The place of each array in the block."""
        ends = np.cumsum([prod(shape) for shape in self.shapes.values()]).tolist()
        return {name: slice(*ends) for name, ends in zip(self.shapes, zip([0, *ends], ends, strict=False), strict=True)}

    @cached_property
    def size(self) -> int:
        """The number of numbers in a block."""
        return sum(prod(shape) for shape in self.shapes.values())

    def zeros(self, stack: tuple[int, ...]) -> ArrayBlock:
        """Return a block of zeros for each problem of a stack."""
        return ArrayBlock(self, np.zeros((*stack, self.size)))

    def block(self, stack: tuple[int, ...], arrays: Mapping[str, Any]) -> ArrayBlock:
        """Return a block with these arrays, whose leading axes are a stack of problems."""
        parts = [np.reshape(arrays[name], (*stack, -1)) for name in self.shapes]
        return ArrayBlock(self, np.concatenate(parts, axis=-1))


class ArrayBlock(Mapping[str, FloatArray]):
    """Named arrays, each a view of the block's single array; leading axes are a stack of problems."""

    __slots__ = ("array", "layout")

    def __init__(self, layout: Layout, array: FloatArray) -> None:
        self.layout, self.array = layout, array

    def __getitem__(self, name: str) -> FloatArray:
        part = self.array[..., self.layout.places[name]]
        return part.reshape(self.array.shape[:-1] + self.layout.shapes[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self.layout.shapes)

    def __len__(self) -> int:
        return len(self.layout.shapes)
