/* The conditional codec: lattices, groups, and the samples of a payload. */
#include <stdlib.h>

#include "group.h"

void restart_codec(Codec *codec)
{
    for (int k = 0; k < codec->n_groups; k++) close_group(codec->groups[k]);
    for (u64 i = 0; codec->lattices && i < codec->n; i++) free(codec->lattices[i].levels);
    free(codec->groups);
    free(codec->lattices);
    free(codec->group_of);
    free(codec->place_of);
    *codec = (Codec){.n = codec->n, .version = codec->version, .period = codec->period, .count = 1};
    make_even(&codec->other, 1);
    make_even(codec->count_bits, INTEGER_BITS);
}

/* How much work a payload may ask for, and what it asks for. */

static u64 afforded(const Codec *codec, u64 size)
{
    return codec->version == 1 ? WORK_PER_BYTE * (size + 1) : FREE_WORK + WORK_PER_BYTE * size;
}

static u64 work_of_start(const Codec *codec, u64 n_groups)
{
    return WORK_PER_START * codec->n + (codec->version == 1 ? 0 : WORK_PER_GROUP * n_groups);
}

static u64 work_of_sample(const Codec *codec)
{
    u64 work = WORK_PER_SAMPLE * (u64)codec->n_groups;
    for (int k = 0; k < codec->n_groups; k++) {
        int n = codec->groups[k]->n;
        if (codec->version == 1) work += (u64)n;
        else if (n <= LARGEST_SMALL_GROUP) work += WORK_OF_SMALL * (u64)n;
        else work += WORK_OF_LARGE * (u64)n + (u64)n * (u64)n / 64;
    }
    return work;
}

static void read_groups(Codec *codec, Bytes *bytes, u64 size)
{
    u64 n = codec->n, count = varint(bytes, n);
    u32 *group = codec->group_of = zeros(n, sizeof *group), *place = codec->place_of = zeros(n, sizeof *place);
    u64 *sizes = zeros(n, sizeof *sizes);
    if (count == 0) fail("there are no groups of sensors");
    for (u64 start = 0; count > 1 && start < n;) {
        u64 run = varint(bytes, n - start), which = varint(bytes, count - 1);
        if (run == 0) fail("groups of sensors are damaged");
        for (u64 stop = start + run; start < stop; start++) group[start] = (u32)which;
    }
    for (u64 i = 0; i < n; i++) place[i] = (u32)sizes[group[i]]++;
    for (u64 k = 0; k < count; k++)
        if (sizes[k] == 0 || sizes[k] > LARGEST_GROUP) fail("a group of sensors is empty, or larger than it may be");
    if (work_of_start(codec, count) > afforded(codec, size)) fail("so few bytes cannot begin so many groups");
    u32 *sensors = zeros(n, sizeof *sensors);
    u64 *starts = zeros(count + 1, sizeof *starts);
    for (u64 k = 0; k < count; k++) starts[k + 1] = starts[k] + sizes[k];
    for (u64 i = 0; i < n; i++) sensors[starts[group[i]] + place[i]] = (u32)i;
    codec->groups = zeros(count, sizeof *codec->groups);
    codec->n_groups = (int)count;
    for (u64 k = 0; k < count; k++)
        codec->groups[k] =
            open_group(sensors + starts[k], (int)sizes[k], codec->lattices, codec->period, codec->version);
    free(sizes);
    free(sensors);
    free(starts);
}

static void begin(Codec *codec, Bytes *payload)
{
    u64 size = size_of_bytes(*payload);
    if (work_of_start(codec, 1) > afforded(codec, size)) fail("%" PRIu64 " bytes cannot begin a stream", size);
    codec->lattices = zeros(codec->n, sizeof *codec->lattices);
    if (codec->version == 1) read_plain_lattices(payload, codec->lattices, codec->n);
    else read_lattices(payload, codec->lattices, codec->n);
    read_groups(codec, payload, size);
}

f64 *decode(Codec *codec, Bytes payload, u64 *count)
{
    u64 size = size_of_bytes(payload), n = codec->n, work = 0;
    if (!codec->groups) {
        begin(codec, &payload);
        work = work_of_start(codec, (u64)codec->n_groups);
    }
    Coder coder = start_coder(payload);
    if (codec->version > 1) {
        coder.code ^= (u64)1 << 47;
        narrow(&coder, 0, TOTAL - KEPT_FREE);
    }
    if (code_bit(&coder, &codec->other, 250)) codec->count = code_integer(&coder, codec->count_bits);
    *count = codec->count;
    if (*count == 0 || *count * work_of_sample(codec) + work > afforded(codec, size))
        fail("%" PRIu64 " bytes cannot be %" PRIu64 " samples", size, *count);
    f64 *rows = zeros(*count * n, sizeof *rows);
    u8 *raw = zeros(*count * n, 1);
    for (int k = 0; k < codec->n_groups; k++)
        for (u64 t = 0; t < *count; t++)
            code_sample(&coder, codec->groups[k], codec->lattices, rows + t * n, raw + t * n);
    if (codec->version > 1) grow_levels(codec, rows, raw, *count);
    free(raw);
    return rows;
}

u32 digest_of(const Codec *codec)
{
    u32 digest = (u32)codec->n_groups;
    for (int k = 0; k < codec->n_groups; k++) digest = digest * 16777619u ^ codec->groups[k]->hash;
    return digest ^ codec->changed;
}
