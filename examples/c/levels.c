/* The levels of a sensor: a few ways to write increasing numbers. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "ost.h"

enum { DOUBLES, SINGLES, DECIMALS, PLANES, SINGLE_PLANES, FRACTIONS };

int can_be_level(f64 number) { return isfinite(number) && !(number == 0.0 && signbit(number)); }

u64 rank_of(const Lattice *lattice, f64 number)
{
    u64 low = 0, high = lattice->n_levels;
    while (low < high) {
        u64 middle = (low + high) / 2;
        if (lattice->levels[middle] < number) low = middle + 1;
        else high = middle;
    }
    return low;
}

int is_level(const Lattice *lattice, f64 number)
{
    u64 rank = rank_of(lattice, number);
    return rank < lattice->n_levels && lattice->levels[rank] == number;
}

static int in_order(const void *one, const void *other)
{
    f64 a = *(const f64 *)one, b = *(const f64 *)other;
    return (a > b) - (a < b);
}

u64 sort_numbers(f64 *numbers, u64 count)
{
    u64 kept = 0;
    qsort(numbers, count, sizeof *numbers, in_order);
    for (u64 k = 0; k < count; k++)
        if (k == 0 || numbers[k] != numbers[kept - 1]) numbers[kept++] = numbers[k];
    return kept;
}

Lattice merged(const Lattice *lattice, const f64 *more, u64 count)
{
    Lattice larger = *lattice;
    larger.levels = zeros(lattice->n_levels + count, sizeof(f64));
    memcpy(larger.levels, lattice->levels, sizeof(f64) * lattice->n_levels);
    if (count) memcpy(larger.levels + lattice->n_levels, more, sizeof(f64) * count);
    larger.n_levels = sort_numbers(larger.levels, lattice->n_levels + count);
    return larger;
}

static void read_decimals(Bytes *bytes, f64 *levels, u64 count)
{
    f64 scale = 1.0;
    for (u64 places = varint(bytes, MOST_DECIMALS); places; places--) scale *= 10.0;
    i64 total = unfold(varint(bytes, 2 * LARGEST_WHOLE));
    for (u64 k = 0; k < count; k++) {
        if (k) total += (i64)varint(bytes, 2 * LARGEST_WHOLE);
        if (total > (i64)LARGEST_WHOLE || total < -(i64)LARGEST_WHOLE) fail("levels are damaged: they are too large");
        levels[k] = (f64)total / scale;
    }
}

static void read_planes(Bytes *bytes, f64 *levels, u64 count, u64 size, u64 most)
{
    u64 packed = varint(bytes, most), room = size * count + 1, ordered = 0;
    u8 *planes = zeros(room, 1);
    z_stream stream = {0};
    stream.next_in = (Bytef *)take(bytes, packed);
    stream.avail_in = (uInt)packed;
    stream.next_out = planes;
    stream.avail_out = (uInt)room;
    if (inflateInit(&stream) != Z_OK || inflate(&stream, Z_FINISH) != Z_STREAM_END || stream.avail_in ||
        stream.avail_out != 1)
        fail("levels are damaged: they cannot be decompressed");
    inflateEnd(&stream);
    u64 top = (u64)1 << (8 * size - 1), mask = top | (top - 1);
    for (u64 k = 0; k < count; k++) {
        u64 step = 0;
        for (u64 plane = size; plane-- > 0;) step = step << 8 | planes[plane * count + k];
        ordered = (ordered + step) & mask;
        u64 pattern = ordered & top ? ordered ^ top : ~ordered & mask;
        if (size == 8) {
            memcpy(&levels[k], &pattern, 8);
        } else {
            u32 half = (u32)pattern;
            float single;
            memcpy(&single, &half, 4);
            levels[k] = (f64)single;
        }
    }
    free(planes);
}

static void read_fractions(Bytes *bytes, f64 *levels, u64 count)
{
    i64 low = unfold(varint(bytes, 2 * LARGEST_FRACTION)), high = low + (i64)varint(bytes, 2 * LARGEST_FRACTION);
    i64 largest = (i64)varint(bytes, LARGEST_DENOMINATOR), multiples = (high - low) * largest * (largest + 1) / 2 + largest;
    if (largest == 0 || multiples > MOST_MULTIPLES) fail("levels are damaged: they are more fractions than can be");
    f64 *all = zeros((u64)multiples, sizeof *all);
    u64 found = 0;
    for (i64 k = 1; k <= largest; k++)
        for (i64 a = low * k; a <= high * k; a++) all[found++] = (f64)a / (f64)k;
    if (sort_numbers(all, found) != count) fail("levels are damaged: they are more or fewer than they should be");
    memcpy(levels, all, sizeof *all * count);
    free(all);
}

Lattice read_levels(Bytes *bytes, LevelBudget *budget)
{
    u64 left = size_of_bytes(*bytes), count = varint(bytes, MOST_LEVELS);
    int way = *take(bytes, 1);
    Lattice found = {.kind = OF_LEVELS, .width = 1, .numerator = 1.0, .denominator = 1.0, .n_levels = count};
    if (count == 0 || count > budget->of_payload) fail("a sensor has no levels, or more than there are bytes for");
    budget->of_payload -= count;
    f64 *levels = found.levels = zeros(count, sizeof(f64));
    if (way == DOUBLES)
        for (u64 k = 0; k < count; k++) levels[k] = number(bytes);
    else if (way == SINGLES)
        for (u64 k = 0; k < count; k++) levels[k] = single_number(bytes);
    else if (way == DECIMALS) read_decimals(bytes, levels, count);
    else if (way == PLANES) read_planes(bytes, levels, count, 8, left);
    else if (way == SINGLE_PLANES) read_planes(bytes, levels, count, 4, left);
    else if (way == FRACTIONS) read_fractions(bytes, levels, count);
    else fail("levels are written in way %d, which there is not", way);
    for (u64 k = 0; k < count; k++)
        if (!can_be_level(levels[k]) || (k && !(levels[k] > levels[k - 1])))
            fail("levels are damaged: they are not finite or not in order");
    return found;
}
