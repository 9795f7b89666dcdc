/* What is known of a sensor, in the integers of its next lattice. */
#include <math.h>

#include "group.h"

/* From positions on one lattice to those on another: a line, or ranks of levels. */
typedef struct { f64 factor, shift; const Lattice *old, *new; } Move;

static f64 moved(const Move *move, f64 p)
{
    if (move->old->kind == LINEAR) return move->factor * p + move->shift;
    const f64 *levels = move->old->levels;
    i64 last = (i64)move->old->n_levels - 1;
    if (p <= 0.0) return p + (f64)rank_of(move->new, levels[0]);
    if (p >= (f64)last) return p + (f64)((i64)rank_of(move->new, levels[last]) - last);
    i64 k = (i64)floor(p), low = (i64)rank_of(move->new, levels[k]), high = (i64)rank_of(move->new, levels[k + 1]);
    return (f64)low + (p - (f64)k) * (f64)(high - low);
}

static i64 moved_cell(const Move *move, i64 cell, f64 width, f64 w)
{
    f64 found = floor(moved(move, (f64)cell * width) / w + 0.5);
    return fabs(found) <= (f64)LIMIT ? (i64)found : 0;
}

/* Positions are moved, distances multiplied; `width` is the old one. */
static void take_along(Group *g, int i, f64 width, const Move *move)
{
    f64 w = g->w[i], factor = move->factor, variance = factor * factor * g->variance[i], spread = factor * g->spread[i];
    for (int k = 0; k < g->ring; k++) g->history[k * g->n + i] = moved(move, g->history[k * g->n + i]);
    g->mean[i] = moved(move, g->mean[i]);
    g->jump[i] = 0.0;
    g->variance[i] = MAX(variance, 0.01 * w * w);
    g->spread[i] = MAX(spread, 0.02 * w);
    if (g->memories) {
        for (int j = 0; j < ORDER; j++) g->memories[i].steps[j] *= factor;
        g->memories[i].extra *= factor;
    }
    Past *past = &g->mixture->pasts[i];
    for (i64 k = 0; k < g->mixture->ring_size; k++) past->ring[k] = moved_cell(move, past->ring[k], width, w);
    past->mode = moved_cell(move, past->mode, width, w);
    past->match = -1;
    past->length = 0;
    past->trail = past->long_trail = 0;
}

/* Whether what is known can be taken along, and how. */
static int can_move(const Group *g, int i, Move *move)
{
    const Lattice *old = move->old, *new = move->new;
    if (g->seen[i] == 0 || old->kind != new->kind) return 0;
    if (old->kind == LINEAR) {
        move->factor = (old->numerator * new->denominator) / (old->denominator * new->numerator);
        move->shift = ((old->offset * new->denominator) / old->denominator - new->offset) / new->numerator;
        return 1.0 / 1e12 < move->factor && move->factor < 1e12 && fabs(move->shift) < 1e12;
    }
    if (old->kind != OF_LEVELS) return 0;
    for (u64 k = 0; k < old->n_levels; k++)
        if (!is_level(new, old->levels[k])) return 0;
    f64 mean = g->mean[i], deviation = sqrt(g->variance[i]);
    f64 wider = (moved(move, mean + deviation) - moved(move, mean - deviation)) / (2.0 * deviation);
    move->factor = MAX(wider, 1.0);
    return 1;
}

void remap(Group *g, int i, const Lattice *old, const Lattice *new)
{
    f64 width = g->w[i];
    Move move = {1.0, 0.0, old, new};
    if (same_lattice(old, new)) return;
    g->w[i] = (f64)new->width;
    if (can_move(g, i, &move)) take_along(g, i, width, &move);
    else forget_sensor(g, i);
}
