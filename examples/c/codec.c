/* The conditional codec: lattices, groups, and the samples of a payload. */
#include <math.h>
#include <stdlib.h>

#include "ost.h"

static void read_lattices(Bytes *bytes, Lattice *lattices, u64 n)
{
    for (u64 start = 0; start < n;) {
        Lattice one = {0};
        u64 run = varint(bytes, n - start);
        one.width = (i64)varint(bytes, 126);
        int flags = *take(bytes, 1);
        f64 *numbers[] = {&one.numerator, &one.denominator, &one.offset};
        for (int k = 0; k < 3; k++) *numbers[k] = flags & 1 ? (f64)varint(bytes, (u64)1 << 53) : number(bytes);
        if (flags & 2) one.ratio = number(bytes);
        one.single = flags >> 2 & 1;
        int fine = run && flags < 8 && one.width >= 1 && isfinite(one.offset);
        fine = fine && isfinite(one.numerator) && one.numerator > 0.0;
        fine = fine && isfinite(one.denominator) && one.denominator > 0.0;
        if (!fine || !(one.ratio == 0.0 || (one.ratio > 1.0 && one.ratio < 16.0))) fail("a lattice is damaged");
        for (u64 stop = start + run; start < stop; start++) lattices[start] = one;
    }
}

void restart_codec(Codec *codec)
{
    for (int k = 0; k < codec->n_groups; k++) close_group(codec->groups[k]);
    free(codec->groups);
    codec->groups = NULL;
    codec->n_groups = 0;
    codec->count = 1;
    make_even(&codec->other, 1);
    make_even(codec->count_bits, INTEGER_BITS);
}

static void read_groups(Codec *codec, Bytes *bytes)
{
    u64 n = codec->n, count = varint(bytes, n);
    u64 *group = zeros(n, sizeof *group), *sizes = zeros(n, sizeof *sizes);
    if (count == 0) fail("there are no groups of sensors");
    for (u64 start = 0; count > 1 && start < n;) {
        u64 run = varint(bytes, n - start), which = varint(bytes, count - 1);
        if (run == 0) fail("groups of sensors are damaged");
        for (u64 stop = start + run; start < stop; start++) group[start] = which;
    }
    for (u64 i = 0; i < n; i++) sizes[group[i]]++;
    for (u64 k = 0; k < count; k++)
        if (sizes[k] == 0 || sizes[k] > LARGEST_GROUP) fail("a group of sensors is empty, or larger than it may be");
    codec->groups = zeros(count, sizeof *codec->groups);
    codec->n_groups = (int)count;
    for (u64 k = 0; k < count; k++) {
        int sensors[LARGEST_GROUP], size = 0;
        for (u64 i = 0; i < n; i++)
            if (group[i] == k) sensors[size++] = (int)i;
        codec->groups[k] = open_group(sensors, size, codec->lattices, codec->period);
    }
    free(group);
    free(sizes);
}

/* Return the readings of a payload, `*count` samples of them. */
f64 *decode(Codec *codec, Bytes payload, u64 *count)
{
    u64 size = (u64)(payload.end - payload.at);
    int fresh = !codec->groups;
    if (fresh) {
        if (WORK_PER_START * codec->n > WORK_PER_BYTE * (size + 1)) fail("%" PRIu64 " bytes cannot begin a stream", size);
        read_lattices(&payload, codec->lattices, codec->n);
        read_groups(codec, &payload);
    }
    Coder coder = start_coder(payload);
    if (code_bit(&coder, &codec->other, 250)) codec->count = code_integer(&coder, codec->count_bits);
    *count = codec->count;
    u64 work = *count * (codec->n + WORK_PER_SAMPLE * (u64)codec->n_groups);
    if (fresh) work += WORK_PER_START * codec->n;
    if (*count == 0 || work > WORK_PER_BYTE * (size + 1))
        fail("%" PRIu64 " bytes cannot be %" PRIu64 " samples", size, *count);
    f64 *rows = zeros(*count * codec->n, sizeof *rows);
    for (int k = 0; k < codec->n_groups; k++)
        for (u64 t = 0; t < *count; t++) code_sample(&coder, codec->groups[k], codec->lattices, rows + t * codec->n);
    return rows;
}

u32 digest_of(const Codec *codec)
{
    u32 digest = (u32)codec->n_groups;
    for (int k = 0; k < codec->n_groups; k++) digest = digest * 16777619u ^ hash_of(codec->groups[k]);
    return digest;
}
