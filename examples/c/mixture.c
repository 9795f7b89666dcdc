/* What the mixture knows: adaptive bits in many contexts, and how much each of them is to be trusted. */
#include <stdlib.h>

#include "group.h"

Mixture *open_mixture(int n)
{
    Mixture *m = zeros(1, sizeof *m);
    m->ring_size = RING;
    while (m->ring_size * n > RINGS && m->ring_size > LEAST_RING) m->ring_size >>= 1;
    for (int which = 0; which < N_SETS; which++) {
        for (int j = 0; j < N_SOURCES; j++) m->weights[which][j] = j ? OTHER_WEIGHTS : FIRST_WEIGHT;
        for (int k = 0; k < N_REFINED; k++) m->refined[which][k] = 64 * squash(256 * k - LARGEST_LOGIT);
    }
    m->slots = zeros(N_SLOTS, sizeof *m->slots);
    m->found = zeros(N_MATCHES, sizeof *m->found);
    m->long_found = zeros(N_MATCHES, sizeof *m->long_found);
    make_even(m->shared, N_SHARED);
    make_even(m->escapes, INTEGER_BITS + 1);
    m->pasts = zeros((u64)n, sizeof *m->pasts);
    for (int i = 0; i < n; i++) {
        m->pasts[i].ring = zeros((u64)m->ring_size, sizeof(i64));
        m->pasts[i].match = -1;
    }
    return m;
}

void close_mixture(Mixture *m, int n)
{
    for (int i = 0; i < n; i++) free(m->pasts[i].ring);
    free(m->pasts);
    free(m->slots);
    free(m->found);
    free(m->long_found);
    free(m);
}

u32 mixed_hash(i64 value, u32 before)
{
    u32 hash = ((u32)(u64)value ^ before) * 0x2C1B3C6Du;
    hash ^= hash >> 15;
    hash *= 0x297A2D39u;
    return hash ^ hash >> 14;
}

Bit *slot_of(Mixture *m, u32 key)
{
    Slot *slot = &m->slots[key & (N_SLOTS - 1)];
    u32 check = (key >> 16 & 0xff) + 1;
    if (slot->check != check) {
        slot->check = check;
        make_even(&slot->bit, 1);
    }
    return &slot->bit;
}

static i64 trained_weight(i64 weight, i64 input, i64 error)
{
    weight += (input * error) >> 18;
    return MIN(MAX(weight, -MOST_WEIGHT), MOST_WEIGHT);
}

int mixed_bit(Coder *coder, Mixture *m, int which, int n_sources, int bit)
{
    i64 *weights = m->weights[which], inputs[N_SOURCES], total = 0;
    for (int j = 0; j < n_sources; j++) {
        inputs[j] = j ? logit_of_probability(m->sources[j]->probability) : m->first_input;
        total += weights[j] * inputs[j];
    }
    i64 logit = MIN(MAX(total >> 16, -LARGEST_LOGIT), LARGEST_LOGIT - 1);
    int mixed = squash((i32)logit), at = (int)logit + LARGEST_LOGIT, along = at & 255;
    i64 *refined = &m->refined[which][at >> 8];
    i64 close = (refined[0] * (256 - along) + refined[1] * along) >> 14;
    i64 ones = MIN(MAX((mixed + close + 1) >> 1, 1), TOTAL - 1);
    bit = code_known(coder, (u32)ones, bit);
    m->cost -= log2_of((f64)(bit ? ones : TOTAL - ones) / 65536.0);

    refined += along >> 7;
    if (bit) *refined += (4194303 - *refined) >> 6;
    else *refined -= *refined >> 6;
    i64 pace = PACE + QUICK_PACE / (m->trained[which] + 2), error = ((bit ? TOTAL : 0) - mixed) * pace;
    if (m->trained[which] < 255) m->trained[which]++;
    for (int j = 0; j < n_sources; j++) {
        weights[j] = trained_weight(weights[j], inputs[j], error);
        if (j) move_bit(m->sources[j], bit, MOST_SEEN);
    }
    return bit;
}
