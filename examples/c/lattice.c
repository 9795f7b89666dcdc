/* The numbers that a sensor's readings may be replaced by, each named by an integer. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ost.h"

enum { POWERS = 32, WHOLE = 4, SINGLE = 8 };

static f64 power_of(const Lattice *lattice, i64 c)
{
    if (c == 0) return 0.0;
    u64 rest = (u64)(c < 0 ? -c : c) - 1;
    f64 power = lattice->ratio, value = lattice->numerator;
    for (int k = 0; k < POWERS; k++) {
        if (rest >> k & 1) value = value * power;
        power = power * power;
    }
    return c < 0 ? -value : value;
}

int rest_bits(int precision, i64 c)
{
    u64 size = (u64)(c < 0 ? -c : c);
    if (size == 0) return 0;
    for (; size && precision; size >>= 1) precision--;
    return precision;
}

static f64 float_of(const Lattice *lattice, i64 c, u64 rest)
{
    u64 size = (u64)(c < 0 ? -c : c);
    if (size == 0) return 0.0;
    int bits = rest_bits(lattice->precision, c);
    f64 value = ldexp((f64)(size << bits | rest), lattice->exponent - bits);
    return c < 0 ? -value : value;
}

f64 value_of(const Lattice *lattice, i64 c, u64 rest)
{
    f64 value;
    if (lattice->kind == FLOATS) return float_of(lattice, c, rest);
    if (lattice->kind == OF_LEVELS) {
        if (c < 0 || (u64)c >= lattice->n_levels) fail("a reading is a level that its sensor does not have");
        return lattice->levels[c];
    }
    if (lattice->kind == GEOMETRIC) value = power_of(lattice, c);
    else value = ((f64)c * lattice->numerator + lattice->offset) / lattice->denominator;
    return lattice->single ? (f64)(float)value : value;
}

static int is_positive(f64 value) { return value > 0.0 && isfinite(value); }

void read_plain_lattices(Bytes *bytes, Lattice *lattices, u64 n)
{
    for (u64 start = 0; start < n;) {
        Lattice one = {0};
        u64 run = varint(bytes, n - start);
        one.width = (i64)varint(bytes, WIDEST);
        int flags = *take(bytes, 1);
        f64 *numbers[] = {&one.numerator, &one.denominator, &one.offset};
        for (int k = 0; k < 3; k++) *numbers[k] = flags & 1 ? (f64)varint(bytes, LARGEST_WHOLE) : number(bytes);
        if (flags & 2) one.ratio = number(bytes);
        one.single = flags >> 2 & 1;
        one.kind = one.ratio > 0.0 ? GEOMETRIC : LINEAR;
        int fine = run && flags < 8 && one.width >= 1 && isfinite(one.offset);
        fine = fine && is_positive(one.numerator) && is_positive(one.denominator);
        if (!fine || !(one.ratio == 0.0 || (one.ratio > 1.0 && one.ratio < 16.0))) fail("a lattice is damaged");
        for (u64 stop = start + run; start < stop; start++) lattices[start] = one;
    }
}

LevelBudget level_budget(Bytes payload)
{
    return (LevelBudget){MOST_LEVELS + LEVELS_PER_BYTE * size_of_bytes(payload), MOST_LEVELS_OF_ALL};
}

Lattice copy_of(const Lattice *lattice)
{
    Lattice copy = *lattice;
    if (!copy.levels) return copy;
    copy.levels = zeros(copy.n_levels, sizeof(f64));
    memcpy(copy.levels, lattice->levels, sizeof(f64) * copy.n_levels);
    return copy;
}

void read_lattices(Bytes *bytes, Lattice *lattices, u64 n)
{
    LevelBudget budget = level_budget(*bytes);
    for (u64 start = 0; start < n;) {
        u64 run = varint(bytes, n - start);
        if (run == 0) fail("a lattice is damaged: it is that of no sensor");
        Lattice one = read_lattice(bytes, &budget);
        if (run * one.n_levels > budget.of_all) fail("sensors have too many levels together");
        budget.of_all -= run * one.n_levels;
        for (u64 stop = start + run; start < stop; start++) lattices[start] = copy_of(&one);
        free(one.levels);
    }
}

static void read_linear(Bytes *bytes, Lattice *one, int flags)
{
    one->width = (i64)varint(bytes, WIDEST);
    if (flags & WHOLE) {
        one->numerator = (f64)varint(bytes, LARGEST_WHOLE);
        one->denominator = (f64)varint(bytes, LARGEST_WHOLE);
        one->offset = (f64)unfold(varint(bytes, 2 * LARGEST_WHOLE));
    } else {
        one->numerator = number(bytes);
        one->denominator = number(bytes);
        one->offset = number(bytes);
    }
    int fine = one->width >= 1 && is_positive(one->numerator) && is_positive(one->denominator);
    if (!fine || !isfinite(one->offset)) fail("a lattice is damaged: its numbers are impossible");
}

Lattice read_lattice(Bytes *bytes, LevelBudget *budget)
{
    static const int allowed[] = {WHOLE | SINGLE, SINGLE, 0, 0};
    int tag = *take(bytes, 1), kind = tag & 3, flags = tag & ~3;
    Lattice one = {.kind = kind, .single = !!(flags & SINGLE), .width = 1, .numerator = 1.0, .denominator = 1.0};
    if (flags & ~allowed[kind]) fail("a lattice is damaged: its flags are impossible");
    if (kind == LINEAR) {
        read_linear(bytes, &one, flags);
    } else if (kind == GEOMETRIC) {
        one.numerator = number(bytes);
        one.ratio = number(bytes);
        if (!is_positive(one.numerator) || !(one.ratio > 1.0 && one.ratio < 16.0))
            fail("a lattice is damaged: its numbers are impossible");
    } else if (kind == OF_LEVELS) {
        one = read_levels(bytes, budget);
    } else {
        one.exponent = (int)unfold(varint(bytes, 4096));
        one.precision = (int)varint(bytes, MOST_PRECISION);
        if (one.exponent < LOWEST_EXPONENT || one.exponent > HIGHEST_EXPONENT || one.precision < 1)
            fail("a lattice is damaged: its numbers are impossible");
    }
    return one;
}

int same_lattice(const Lattice *one, const Lattice *other)
{
    int same = one->kind == other->kind && one->single == other->single && one->exponent == other->exponent;
    same = same && one->precision == other->precision && one->width == other->width;
    same = same && one->numerator == other->numerator && one->denominator == other->denominator;
    same = same && one->offset == other->offset && one->ratio == other->ratio && one->n_levels == other->n_levels;
    for (u64 k = 0; same && k < one->n_levels; k++) same = one->levels[k] == other->levels[k];
    return same;
}
