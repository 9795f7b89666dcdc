/* What repeats: the last cells of a sensor, the stretch of them that is met again, the most frequent one. */
#include "group.h"

/* A cell by its number; the size of a ring is a power of two. */
static i64 *cell_at(const Mixture *m, int i, i64 number) { return &m->pasts[i].ring[number & (m->ring_size - 1)]; }

i64 last_cell(const Mixture *m, int i, int ago) { return *cell_at(m, i, m->pasts[i].written - ago); }

static void look_for_match(Mixture *m, int i, i64 earlier, i64 least)
{
    Past *past = &m->pasts[i];
    i64 at = past->written, length = 0;
    if (!(0 < earlier && earlier < at && at - earlier < m->ring_size - COMPARED)) return;
    while (length < COMPARED && *cell_at(m, i, earlier - 1 - length) == *cell_at(m, i, at - 1 - length)) length++;
    if (length < least) return;
    past->match = earlier;
    past->length = length;
}

static i64 *place_of(i64 *table, u32 trail, int i)
{
    return &table[(trail + (u32)i) * 0x2C1B3C6Du >> 16 & (N_MATCHES - 1)];
}

static void follow_match(Mixture *m, int i, i64 cell)
{
    Past *past = &m->pasts[i];
    if (past->match >= 0) {
        int fits = *cell_at(m, i, past->match) == cell;
        past->length = fits ? MIN(past->length + 1, 100000) : 0;
        past->match = fits ? past->match + 1 : -1;
    }
    *cell_at(m, i, past->written++) = cell;
    past->trail = past->trail * 352u + ((u32)(u64)cell + 1) * 0x2F0B4C47u;
    past->long_trail = past->long_trail * 22u + ((u32)(u64)cell + 1) * 0x2F0B4C47u;
    i64 *found = place_of(m->found, past->trail, i), *long_found = place_of(m->long_found, past->long_trail, i);
    if (past->length < COMPARED) look_for_match(m, i, *long_found, COMPARED);
    if (past->match < 0) look_for_match(m, i, *found, SHORTEST);
    *found = *long_found = past->written;
}

int take_cell(Mixture *m, int i, i64 cell)
{
    Past *past = &m->pasts[i];
    int repeats = cell == last_cell(m, i, 1);
    past->repeats = (past->repeats << 1 | (u32)repeats) & 255;
    past->age = repeats ? MIN(past->age + 1, 100000) : 0;
    if (cell == past->mode) {
        past->votes = MIN(past->votes + 1, 255);
    } else if (past->votes == 0) {
        past->mode = cell;
        past->votes = 1;
    } else {
        past->votes--;
    }
    follow_match(m, i, cell);
    return repeats;
}
