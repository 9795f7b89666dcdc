/* Lattices that change between restarts, and levels that grow. */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "group.h"

static void replace(Codec *codec, u64 sensor, Lattice new)
{
    Lattice *old = &codec->lattices[sensor];
    remap(codec->groups[codec->group_of[sensor]], (int)codec->place_of[sensor], old, &new);
    free(old->levels);
    *old = new;
}

static u64 all_levels(const Lattice *lattices, u64 n)
{
    u64 total = 0;
    for (u64 i = 0; i < n; i++) total += lattices[i].n_levels;
    return total;
}

static int only_zeros(Bytes bytes)
{
    while (bytes.at < bytes.end && !*bytes.at) bytes.at++;
    return bytes.at == bytes.end;
}

/* Mark the sensors of some runs with 1 in `chosen`; return how many there are. */
static u64 read_runs(Bytes *bytes, u64 runs, u8 *chosen, u64 n)
{
    u64 at = 0, count = 0;
    memset(chosen, 0, n);
    for (; runs; runs--) {
        at += varint(bytes, n - at);
        u64 run = varint(bytes, n - at);
        memset(chosen + at, 1, run);
        at += run;
        count += run;
    }
    if (count == 0) fail("a change of lattices is damaged: it is that of no sensor");
    return count;
}

static Lattice with_more(const Lattice *old, const Lattice *more)
{
    if (old->kind != OF_LEVELS) fail("levels are added to a sensor that has none");
    if (old->n_levels + more->n_levels > MOST_LEVELS) fail("a sensor has too many levels");
    return merged(old, more->levels, more->n_levels);
}

void update(Codec *codec, Bytes payload)
{
    u64 n = codec->n, n_changed = 0, n_levels = 0, size = size_of_bytes(payload);
    const u8 *begin = payload.at;
    LevelBudget budget = level_budget(payload);
    if (!codec->groups) fail("lattices change before there are any");
    Lattice *next = zeros(n, sizeof *next);
    u8 *chosen = zeros(n, 1), *changed = zeros(n, 1);
    while (payload.at < payload.end) {
        u64 word = varint(&payload, 2 * n + 1);
        if (word == 0 && only_zeros(payload)) break;
        n_changed += read_runs(&payload, word / 2, chosen, n);
        Lattice one = word % 2 ? read_levels(&payload, &budget) : read_lattice(&payload, &budget);
        for (u64 i = 0; i < n; i++) {
            if (!chosen[i]) continue;
            if (changed[i]) fail("a sensor's lattice changes twice at once");
            changed[i] = 1;
            next[i] = word % 2 ? with_more(&codec->lattices[i], &one) : copy_of(&one);
            n_levels += next[i].n_levels;
            if (n_levels > MOST_LEVELS_OF_ALL) fail("sensors have too many levels together");
        }
        free(one.levels);
    }
    for (u64 i = 0; i < n; i++)
        if (!changed[i]) n_levels += codec->lattices[i].n_levels;
    if (n_changed == 0 || n_levels > MOST_LEVELS_OF_ALL) fail("a change of lattices is damaged");
    if (WORK_PER_START * n_changed > FREE_WORK + WORK_PER_BYTE * size) fail("so few bytes cannot change so many lattices");
    for (u64 i = 0; i < n; i++)
        if (changed[i]) replace(codec, i, next[i]);
    codec->changed = (u32)crc32(codec->changed, begin, (uInt)size);
    free(next);
    free(chosen);
    free(changed);
}

static u32 crc_of_numbers(u32 crc, const f64 *numbers, u64 count)
{
    for (u64 k = 0; k < count; k++) {
        u64 bits;
        u8 bytes[8];
        memcpy(&bits, &numbers[k], 8);
        for (int j = 0; j < 8; j++) bytes[j] = (u8)(bits >> 8 * j);
        crc = (u32)crc32(crc, bytes, 8);
    }
    return crc;
}

void grow_levels(Codec *codec, const f64 *rows, const u8 *raw, u64 count)
{
    u64 n = codec->n, total = all_levels(codec->lattices, n);
    f64 *new = zeros(count, sizeof *new);
    for (u64 i = 0; i < n; i++) {
        Lattice *old = &codec->lattices[i];
        u64 found = 0;
        if (old->kind != OF_LEVELS) continue;
        for (u64 t = 0; t < count; t++) {
            f64 reading = rows[t * n + i];
            if (raw[t * n + i] && can_be_level(reading) && !is_level(old, reading)) new[found++] = reading;
        }
        found = sort_numbers(new, found);
        if (!found || old->n_levels + found > MOST_LEVELS || total + found > MOST_LEVELS_OF_ALL) continue;
        total += found;
        codec->changed = crc_of_numbers(codec->changed, new, found);
        replace(codec, i, merged(old, new, found));
    }
    free(new);
}
