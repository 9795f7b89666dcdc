/* A cell by halving an interval: the way where no candidate holds. */
#include <math.h>

#include "group.h"

static i64 code_outside(Coder *coder, Mixture *m, i64 low, i64 high, i64 cell)
{
    int above = cell >= high;
    i64 apart = above ? cell - high : low - 1 - cell;
    if (coder) {
        above = (int)code_bits(coder, 1);
        apart = (i64)code_integer(coder, m->escapes);
    }
    m->cost += 1.0 + 2.0 * (f64)bits_of_count((u64)apart);
    return above ? high + apart : low - 1 - apart;
}

/* Which share of the bell curve between low and high lies from `edge` on, without the candidates. */
static f64 share_above(const Mixture *m, f64 centre, f64 scale, i64 low, i64 edge, i64 high)
{
    int shape = m->around.shape;
    f64 at_edge = below(((f64)edge - 0.5 - centre) / scale, shape);
    f64 over = below(((f64)high - 0.5 - centre) / scale, shape) - at_edge + 1e-12;
    f64 under = at_edge - below(((f64)low - 0.5 - centre) / scale, shape) + 1e-12;
    f64 least = 1e-9 * (over + under);
    for (int j = 0; j < NONE; j++) {
        i64 candidate = m->candidates[j];
        if (candidate < low || candidate >= high) continue;
        if (candidate >= edge) over -= m->masses[j];
        else under -= m->masses[j];
    }
    over = MAX(over, least);
    under = MAX(under, least);
    return over / (over + under);
}

static i64 code_inside(Coder *coder, Mixture *m, int i, f64 centre, f64 scale, i64 low, int size, i64 cell)
{
    const Around *around = &m->around;
    i64 last = last_cell(m, i, 1), before = last_cell(m, i, 2), nearest = (i64)floor(centre + 0.5);
    for (int depth = 0; size > 0 && depth < DEEPEST; depth++) {
        size--;
        i64 edge = low + ((i64)1 << size);
        f64 share = share_above(m, centre, scale, low, edge, edge + ((i64)1 << size));
        m->first_input = logit_of(share);
        int step = depth * 32 + (int)(share * 31.999);
        u32 node = mixed_hash(low, (u32)size + 64), own = mixed_hash(i, node);
        Bit **sources = m->sources;
        sources[1] = &m->shared[4096 + step * 8 + around->stir];
        sources[2] = slot_of(m, own);
        sources[3] = slot_of(m, mixed_hash(last, own + 1));
        sources[4] = slot_of(m, mixed_hash(before, mixed_hash(last, own + 2)));
        sources[5] = slot_of(m, mixed_hash(around->neighbour, own + 3));
        sources[6] = slot_of(m, mixed_hash(around->ago, own + 4));
        sources[7] = slot_of(m, mixed_hash(around->neighbour, node + 5));
        sources[8] = slot_of(m, mixed_hash(last, node + 6));
        sources[9] = slot_of(m, node);
        sources[10] = slot_of(m, mixed_hash(around->level, mixed_hash(step, (u32)i + 1000)));
        sources[11] = slot_of(m, mixed_hash(low - last, mixed_hash(size + 1, (u32)i + 2000)));
        sources[12] = slot_of(m, mixed_hash(low - nearest, mixed_hash(size + 1, (u32)i + 3000)));
        if (mixed_bit(coder, m, HALVINGS + MIN(size, 15), 13, cell >= edge)) low = edge;
    }
    if (size == 0) return low;
    m->cost += (f64)size;
    return coder ? low + (i64)code_bits(coder, size) : cell;
}

i64 code_mixed(Coder *coder, Mixture *m, int i, f64 centre, f64 scale, i64 cell)
{
    m->cost = 0.0;
    int which = ask_candidates(coder, m, i, centre, scale, cell), block = 3;
    if (which != NONE) return m->candidates[which];
    while ((f64)((i64)1 << block) < 8.0 * scale + 3.0 && block < 44) block++;
    i64 size = (i64)1 << block, middle = (i64)floor(centre / (f64)size + 0.5);
    i64 low = (middle - 1) * size, high = (middle + 1) * size;
    Bit *escape = &m->escapes[INTEGER_BITS];
    u32 ones = MIN(MAX(escape->probability >> 6, 4), TOTAL - 4);
    int outside = code_known(coder, ones, cell < low || cell >= high);
    m->cost -= log2_of((f64)(outside ? ones : TOTAL - ones) / 65536.0);
    move_bit(escape, outside, 250);
    if (outside) return code_outside(coder, m, low, high, cell);
    return code_inside(coder, m, i, centre, scale, low, block + 1, cell);
}
