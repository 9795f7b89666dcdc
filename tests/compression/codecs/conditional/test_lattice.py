"""The numbers that readings may be replaced by."""

from __future__ import annotations

import struct

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from orthostream.compression import compress, decompress
from orthostream.compression.codecs.conditional.lattice import Lattice, geometric_lattice, linear_lattice
from orthostream.compression.codecs.conditional.resolution import NO_RESOLUTION, Resolution, find_resolution
from orthostream.compression.errors import FrameError
from orthostream.compression.kernel.group_state import Group, new_group, value_of
from orthostream.compression.varint import Reader, put_varint

NO = np.zeros(1, dtype=bool)


def same(one: Lattice, other: Lattice) -> bool:
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in Lattice.__dataclass_fields__)


class TestFindResolution:
    @pytest.mark.parametrize(
        ("values", "expected"),
        [
            ([1.0, -3.0], (1, 1)),
            ([0.1, 0.2, 0.3], (1, 10)),
            ([0.25, 0.5], (1, 100)),
            ([0.0], (1, 1)),
            ([-0.0], (1, 1)),
            ([1e-9], (1, 10**9)),
            ([1e-10], (0, 1)),
            ([np.pi], (0, 1)),
            ([1e300], (0, 1)),
            ([], (0, 1)),
        ],
    )
    def test_of_a_few_values(self, values: list[float], expected: tuple[int, int]) -> None:
        assert find_resolution(np.array(values)) == expected

    def test_of_many_values_is_their_common_step(self) -> None:
        assert find_resolution(5.0 * np.arange(100)) == Resolution(5, 1)
        assert find_resolution(np.arange(100) / 4) == Resolution(1, 4)
        assert find_resolution(np.full(100, 20.0)) == Resolution(1, 1)

    def test_of_single_precision(self) -> None:
        values = np.array([0.1, 20.3, -7.7], dtype=np.float32).astype(np.float64)
        assert find_resolution(values) == NO_RESOLUTION
        assert find_resolution(values, single=True) == Resolution(1, 10)

    @given(st.lists(st.integers(-(10**6), 10**6), min_size=1, max_size=80), st.integers(0, 6))
    def test_decimals_are_multiples_of_what_is_found(self, counts: list[int], places: int) -> None:
        values = np.array(counts) / 10**places
        step, scale = find_resolution(values)
        assert step >= 1
        assert 10**places % scale == 0
        np.testing.assert_array_equal(np.rint(values * scale / step) * step / scale, values)


class TestLinear:
    @settings(max_examples=200, deadline=None)
    @given(
        st.floats(1e-6, 1e6),
        st.sampled_from([(1, 1), (1, 10), (5, 1), (1, 4), (3, 100), (0, 1)]),
        st.lists(st.integers(-10000, 10000), min_size=1, max_size=20),
        st.booleans(),
    )
    @example(0.05, (1, 10), [1, 2, 3], False)
    @example(0.1, (1, 10), [1, 2, 3], False)
    @example(0.5, (1, 1), [0, 1, 2, 3], False)
    def test_the_middle_of_a_cell_is_near_enough(
        self, error: float, step: tuple[int, int], counts: list[int], whole: bool
    ) -> None:
        whole = whole and step[1] == 1 and step[0] > 0
        lattice = linear_lattice(np.array([error]), [Resolution(*step)], NO, np.array([whole]))
        rows = np.array(counts, dtype=np.float64)[:, None] * (step[0] / step[1] if step[0] else np.pi * error)
        if step[0]:
            rows = np.array(counts, dtype=np.float64)[:, None] * step[0] / step[1]
        width = lattice.width[0]
        # Cells may be centred anywhere, for instance on a prediction.
        for centre in (0, 1, 5):
            cells = centre + width * np.floor((lattice.positions(rows) - centre) / width + 0.5).astype(np.int64)
            decoded = lattice.values(cells)
            assert np.abs(decoded - rows).max() <= error
            if whole:
                np.testing.assert_array_equal(decoded, np.rint(decoded))

    def test_no_error_at_all_needs_a_resolution(self) -> None:
        lattice = linear_lattice(np.zeros(1), [Resolution(1, 10)], NO, NO)
        values = np.array([[0.1], [0.2], [0.3], [-7.7]])
        np.testing.assert_array_equal(lattice.values(np.rint(lattice.positions(values)).astype(np.int64)), values)

    def test_whole_degrees_within_half_a_degree_are_pairs(self) -> None:
        lattice = linear_lattice(np.array([0.5]), [Resolution(1, 1)], NO, NO)
        assert lattice.width.tolist() == [2]
        assert lattice.values(np.array([[0], [2]])).ravel().tolist() == [0.5, 2.5]

    def test_what_has_no_place(self) -> None:
        lattice = linear_lattice(np.array([0.5]), [NO_RESOLUTION], NO, NO)
        rows = np.array([[np.nan], [np.inf], [-np.inf], [1e308], [1e17], [3.0]])
        assert np.isnan(lattice.positions(rows)).ravel().tolist() == [True, True, True, True, True, False]


class TestGeometric:
    @settings(max_examples=200, deadline=None)
    @given(
        st.floats(1e-4, 0.999),
        st.lists(st.floats(1e-3, 1e6).flatmap(lambda x: st.sampled_from([x, -x])), min_size=1, max_size=20),
    )
    def test_the_nearest_power_is_near_enough(self, error: float, values: list[float]) -> None:
        """Up to rounding, which grows with the power; a codec sends what that pushes out as it is."""
        rows = np.array(values)[:, None]
        lattice = geometric_lattice(np.array([error]), np.array([1e-3]), NO)
        decoded = lattice.values(np.floor(lattice.positions(rows) + 0.5).astype(np.int64))
        assert np.all(np.abs(decoded - rows) <= np.abs(rows) * error * (1.0 + 1e-5))

    def test_zero_and_what_is_smaller_than_the_smallest(self) -> None:
        lattice = geometric_lattice(np.array([0.1]), np.array([1.0]), NO)
        np.testing.assert_array_equal(
            lattice.positions(np.array([[0.0], [-0.0], [0.5], [1.0], [-1.0]])).ravel(), [0.0, 0.0, np.nan, 1.0, -1.0]
        )
        np.testing.assert_array_equal(lattice.values(np.array([[0], [1], [-1]])).ravel(), [0.0, 1.0, -1.0])

    def test_large_readings_give_no_warning(self) -> None:
        lattice = geometric_lattice(np.array([1e-3]), np.array([1e305]), NO)
        assert np.isfinite(lattice.values(np.array([[3000]]))).all()


def group_of(lattice: Lattice) -> Group:
    nothing = np.zeros(len(lattice.width), dtype=np.int64)
    return new_group(
        lattice.width.astype(np.float64),
        lattice.numerator,
        lattice.denominator,
        lattice.offset,
        lattice.powers(),
        lattice.single.astype(np.int64),
        exact=nothing,
        precision=nothing,
        period=0,
        version=2,
    )


@pytest.mark.parametrize("single", [False, True])
def test_the_kernel_sees_the_same_values(single: bool) -> None:
    flags = np.array([single] * 4)
    resolutions = [Resolution(1, 10), NO_RESOLUTION, Resolution(1, 1), Resolution(7, 4)]
    cells = np.array([[0], [1], [-1], [255], [-12345], [2**40]]) * np.ones(4, dtype=np.int64)
    linear = linear_lattice(np.array([0.1, 0.3, 0.5, 2.0]), resolutions, flags, np.zeros(4, dtype=bool))
    geometric = geometric_lattice(np.array([0.1, 0.01, 0.5, 0.9]), np.array([1.0, 1e-290, 3.0, 7.0]), flags)
    for lattice, some in ((linear, cells), (geometric, cells[:-1] // 50)):
        group = group_of(lattice)
        with np.errstate(over="ignore"):
            kernel = [[value_of(group, i, int(cell)) for i, cell in enumerate(row)] for row in some]
            np.testing.assert_array_equal(np.array(kernel), lattice.values(some))


def test_an_error_too_small_for_a_unit_is_none() -> None:
    rows = np.array([[0.1 + 0.2], [1.0 / 3.0], [2.0]])
    assert decompress(compress(rows, max_error=5e-324, resolution=None)).tolist() == rows.tolist()


class TestBytes:
    @settings(max_examples=100, deadline=None)
    @given(
        st.lists(
            st.tuples(
                st.floats(0.0, 1e6), st.sampled_from([(1, 1), (1, 10), (0, 1), (7, 4)]), st.booleans(), st.booleans()
            ),
            min_size=1,
            max_size=10,
        )
    )
    def test_linear_lattices_come_back(self, sensors: list[tuple[float, tuple[int, int], bool, bool]]) -> None:
        errors, steps, single, whole = zip(*sensors, strict=True)
        resolutions = [
            Resolution(1, 1) if is_whole else Resolution(*s) for s, is_whole in zip(steps, whole, strict=True)
        ]
        lattice = linear_lattice(np.array(errors), resolutions, np.array(single), np.array(whole))
        data = lattice.to_bytes()
        reader = Reader(data + b"rest")
        assert same(Lattice.read(reader, len(errors)), lattice)
        assert reader.rest() == b"rest"
        for size in range(len(data)):
            with pytest.raises(FrameError):
                Lattice.read(Reader(data[:size]), len(errors))

    def test_geometric_lattices_come_back(self) -> None:
        lattice = geometric_lattice(
            np.array([0.1, 0.1, 0.5]), np.array([1.0, 1.0, 1e-7]), np.array([True, True, False])
        )
        assert same(Lattice.read(Reader(lattice.to_bytes()), 3), lattice)

    def test_equal_neighbours_cost_nothing(self) -> None:
        def size(n: int) -> int:
            return len(geometric_lattice(np.full(n, 0.1), np.full(n, 1.0), np.zeros(n, dtype=bool)).to_bytes())

        assert size(100) == size(1)

    @staticmethod
    def crafted(run: int = 2, width: int = 1, flags: int = 0, numbers: tuple[float, ...] = (1.0, 1.0, 0.0)) -> bytes:
        out = bytearray()
        put_varint(out, run)
        put_varint(out, width)
        out.append(flags)
        return bytes(out) + struct.pack(f"<{len(numbers)}d", *numbers)

    def test_a_crafted_lattice_is_read(self) -> None:
        assert Lattice.read(Reader(self.crafted()), 2).width.tolist() == [1, 1]

    @pytest.mark.parametrize(
        "words",
        [
            {"run": 0},
            {"run": 3},
            {"run": 2**60},
            {"width": 0},
            {"width": 10**6},
            {"flags": 8},
            {"flags": 255},
            {"numbers": (0.0, 1.0, 0.0)},
            {"numbers": (-1.0, 1.0, 0.0)},
            {"numbers": (np.nan, 1.0, 0.0)},
            {"numbers": (1.0, 0.0, 0.0)},
            {"numbers": (1.0, np.inf, 0.0)},
            {"numbers": (1.0, 1.0, np.nan)},
            {"flags": 2, "numbers": (1.0, 1.0, 0.0, 1.0)},
            {"flags": 2, "numbers": (1.0, 1.0, 0.0, np.nan)},
            {"flags": 2, "numbers": (1.0, 1.0, 0.0, np.inf)},
            {"flags": 2, "numbers": (1.0, 1.0, 0.0, -2.0)},
        ],
    )
    def test_impossible_lattices_are_refused(self, words: dict[str, object]) -> None:
        with pytest.raises(FrameError):
            Lattice.read(Reader(self.crafted(**words)), 2)  # type: ignore[arg-type]

    @given(st.binary(max_size=60), st.integers(1, 20))
    def test_hostile_bytes(self, data: bytes, n_sensors: int) -> None:
        try:
            lattice = Lattice.read(Reader(data), n_sensors)
        except FrameError:
            return
        assert len(lattice.width) == n_sensors
