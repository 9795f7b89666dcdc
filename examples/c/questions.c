/* Candidates: the cell that a stretch met before predicts, the last one, the most frequent one. */
#include "group.h"

int bits_of_count(u64 count)
{
    int bits = 0;
    for (; count; count >>= 1) bits++;
    return bits;
}

static i64 coarse(i64 count)
{
    int shift = 0;
    for (; count >= 16; count >>= 1) shift++;
    return shift * 16 + count;
}

static int ask(Coder *coder, Mixture *m, int i, int kind, i64 candidate, int holds)
{
    const Past *past = &m->pasts[i];
    const Around *around = &m->around;
    i64 last = last_cell(m, i, 1), asked = around->asked, share = 0;
    int length = (int)MIN(past->length, 15), age = bits_of_count((u64)past->age) >> 1;
    if (asked > 0) share = 1 + (6 * around->repeated + (asked >> 1)) / asked;
    u32 own = mixed_hash(i * 64 + kind, 77), pair = mixed_hash(candidate, (u32)kind + 4);
    Bit **sources = m->sources;
    sources[1] = slot_of(m, mixed_hash(past->repeats & 15, own));
    sources[2] = slot_of(m, mixed_hash(candidate, mixed_hash(coarse(past->age), own + 1)));
    sources[3] = slot_of(m, mixed_hash(last, mixed_hash(last_cell(m, i, 2), own + 2)));
    sources[4] = &m->shared[(kind * 8 + (int)share) * 4 + (int)(past->repeats & 3)];
    sources[5] = &m->shared[1024 + (kind * 16 + length) * 8 + MIN(age, 7)];
    sources[6] = slot_of(m, mixed_hash((i64)around->phase, mixed_hash(candidate, own + 3)));
    sources[7] = slot_of(m, mixed_hash(around->neighbour, mixed_hash(last, pair)));
    sources[8] = slot_of(m, mixed_hash(around->neighbour, mixed_hash(candidate, own + 5)));
    return mixed_bit(coder, m, kind + (length >= 8 ? 24 : 0), 9, holds);
}

int ask_candidates(Coder *coder, Mixture *m, int i, f64 centre, f64 scale, i64 cell)
{
    const Past *past = &m->pasts[i];
    i64 last = last_cell(m, i, 1), *candidates = m->candidates;
    candidates[0] = past->match >= 0 ? past->ring[past->match & (m->ring_size - 1)] : last;
    candidates[1] = last;
    candidates[2] = past->mode;
    int agree = (candidates[0] == last) + 2 * (candidates[2] == last) + 4 * (past->match >= 0), shape = m->around.shape;
    f64 rest = 1.0;
    for (int question = 0; question < 3; question++) {
        i64 candidate = candidates[question];
        m->masses[question] = 0.0;
        if (question > 0 && candidate == candidates[0]) continue;
        if (question > 1 && candidate == candidates[1]) continue;
        f64 upper = below(((f64)candidate + 0.5 - centre) / scale, shape);
        f64 mass = upper - below(((f64)candidate - 0.5 - centre) / scale, shape);
        m->first_input = logit_of(mass / MAX(rest, 1e-9));
        if (ask(coder, m, i, question * 8 + agree, candidate, cell == candidate)) return question;
        m->masses[question] = mass;
        rest -= mass;
    }
    return NONE;
}
