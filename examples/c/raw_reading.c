/* Readings that the model cannot hold: the first cell of a sensor, all 64 bits of a number. */
#include "group.h"

i64 code_first(Coder *coder, Group *g, i64 reference) { return reference + unfold(code_integer(coder, g->first_bits)); }

u64 code_exact(Coder *coder, Group *g, int i)
{
    if (!g->mixture) {
        u64 high = code_bits(coder, 32);
        return high << 32 | code_bits(coder, 32);
    }
    u64 top = g->last_raw[i] >> (64 - TOP), middle, end = 0;
    if (!code_bit(coder, &g->same_top, 60)) top = code_bits(coder, TOP);
    middle = code_bits(coder, 64 - TOP - ENDING);
    if (!code_bit(coder, &g->zero_end, 60)) end = code_bits(coder, ENDING);
    return g->last_raw[i] = top << (64 - TOP) | middle << ENDING | end;
}
