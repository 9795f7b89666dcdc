/* The state of a group of sensors before its first sample. */
#include <stdlib.h>
#include <string.h>

#include "group.h"

static f64 **group_arrays(Group *g, int k)
{
    f64 **arrays[] = {&g->w, &g->mean, &g->variance, &g->spread, &g->ratio, &g->stir, &g->jump, &g->pivots,
                      &g->deviation, &g->predicted, &g->quotient, &g->history, &g->covariance, &g->upper, &g->features};
    return k < (int)(sizeof arrays / sizeof *arrays) ? arrays[k] : NULL;
}

f64 *row_of(Group *g, i64 t) { return g->history + (t % g->ring + g->ring) % g->ring * g->n; }

void forget_matrices(Group *g)
{
    int n = g->n;
    memset(g->covariance, 0, sizeof(f64) * (size_t)(n * n));
    memset(g->upper, 0, sizeof(f64) * (size_t)(n * n));
    memset(g->sums, 0, sizeof g->sums);
    memset(g->weights, 0, sizeof g->weights);
    for (int i = 0; i < n; i++) g->covariance[i * n + i] = g->upper[i * n + i] = g->pivots[i] = 1.0;
}

/* What depends on a sensor's width; the rest is 0 or 1. */
void forget_sensor(Group *g, int i)
{
    int n = g->n;
    f64 w = g->w[i];
    g->seen[i] = 0;
    for (int k = 0; k < g->ring; k++) g->history[k * n + i] = 0.0;
    g->mean[i] = g->jump[i] = 0.0;
    g->variance[i] = 4.0 * w * w;
    g->spread[i] = 2.0 * w;
    g->ratio[i] = g->stir[i] = g->pivots[i] = 1.0;
    for (int j = 0; j < n; j++)
        g->covariance[i * n + j] = g->covariance[j * n + i] = g->upper[i * n + j] = g->upper[j * n + i] = 0.0;
    g->covariance[i * n + i] = g->upper[i * n + i] = 1.0;
    if (g->memories) forget_memory(&g->memories[i]);
    if (g->mixture) {
        Past *past = &g->mixture->pasts[i];
        i64 *ring = past->ring;
        memset(ring, 0, sizeof *ring * (size_t)g->mixture->ring_size);
        *past = (Past){.ring = ring, .match = -1};
    }
}

Group *open_group(const u32 *sensors, int n, const Lattice *lattices, int period, int version)
{
    Group *g = zeros(1, sizeof *g);
    u64 count = (u64)n;
    g->n = n;
    g->version = version;
    g->ring = MAX(period + 2, 4);
    g->sensors = zeros(count, sizeof *g->sensors);
    memcpy(g->sensors, sensors, sizeof *sensors * count);
    g->seen = zeros(count, sizeof *g->seen);
    g->gone = zeros(count, sizeof *g->gone);
    g->absences = zeros(count, sizeof *g->absences);
    g->last_raw = zeros(count, sizeof *g->last_raw);
    g->facts = zeros(count, sizeof *g->facts);
    g->history = zeros((u64)g->ring * count, sizeof(f64));
    g->covariance = zeros(count * count, sizeof(f64));
    g->upper = zeros(count * count, sizeof(f64));
    g->features = zeros((N_FEATURES + 1) * count, sizeof(f64));
    for (int k = 0; group_arrays(g, k); k++)
        if (!*group_arrays(g, k)) *group_arrays(g, k) = zeros(count, sizeof(f64));
    if (version > 1) g->mixture = open_mixture(n);
    if (version > 1 && n <= LARGEST_SMALL_GROUP) g->memories = zeros(count, sizeof *g->memories);
    for (int i = 0; i < n; i++) {
        g->w[i] = (f64)lattices[sensors[i]].width;
        g->absences[i].age = 1000;
        forget_sensor(g, i);
    }
    for (int k = 0; k < LEVELS; k++) g->level_factors[k] = 1.0;
    for (int k = 0; k < STIRS; k++) g->stir_factors[k] = 1.0;
    for (int k = 0; k < CONTEXTS; k++) g->presence[k] = (Bit){RARE_PROBABILITY, 0};
    make_even(g->raw, 2);
    make_even(g->first_bits, INTEGER_BITS);
    make_even(&g->same_top, 1);
    make_even(&g->zero_end, 1);
    make_even(g->escapes, INTEGER_BITS);
    return g;
}

void close_group(Group *g)
{
    void *others[] = {g->sensors, g->seen, g->gone, g->absences, g->last_raw, g->facts, g->memories};
    for (size_t k = 0; k < sizeof others / sizeof *others; k++) free(others[k]);
    for (int k = 0; group_arrays(g, k); k++) free(*group_arrays(g, k));
    if (g->mixture) close_mixture(g->mixture, g->n);
    free(g);
}
