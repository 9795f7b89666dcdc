/* Jumps: steps that nothing foretold, and whether predictions do better without them. */
#include <math.h>

#include "group.h"

f64 jump_of(const Group *g, int i, f64 error, f64 s)
{
    if (!g->mixture || g->seen[i] < JUMP_KNOWN) return 0.0;
    return fabs(error) > JUMP_FAR * (s + 0.5 * g->w[i]) ? error : 0.0;
}

int leaves_out_jumps(const Group *g) { return g->jump_account >= 0.0; }

void judge_jumps(Group *g)
{
    f64 n = (f64)g->n;
    int left_out = leaves_out_jumps(g);
    const f64 *position = row_of(g, (i64)g->samples);
    for (int i = 0; i < g->n; i++) {
        f64 jump = g->jump[i], spread = g->spread[i];
        g->jump[i] = g->facts[i].jump;
        if (jump == 0.0 || !(g->facts[i].trust > 0.0)) continue;
        f64 part = jump * (g->weights[0] * (n - 1.0) + g->weights[4]) / n;
        f64 error = position[i] - g->predicted[i], without = left_out ? error : error + part;
        f64 with_jump = fabs(without - part) / spread, without_jump = fabs(without) / spread;
        f64 account = JUMP_KEEP * g->jump_account + (MIN(with_jump, 12.0) - MIN(without_jump, 12.0));
        account = MAX(account, -40.0);
        g->jump_account = MIN(account, 40.0);
    }
}
