/* What a reading teaches at once: how wide the bell curve should have been, and the sensor's mean and variance. */
#include <math.h>

#include "group.h"

static f64 within(f64 value, f64 least, f64 most) { return value < least ? least : value > most ? most : value; }

f64 score_of(f64 upper, f64 lower, int shape)
{
    f64 probability = below(upper, shape) - below(lower, shape);
    if (!(probability > 1e-9)) return 4.0;
    return within((lower * density(lower, shape) - upper * density(upper, shape)) / probability, -1.0, 4.0);
}

f64 score_of_narrow(f64 x, int shape)
{
    f64 freedom = shape == FOUR ? 4.0 : 10.0, square = x * x / freedom;
    f64 score = (freedom + 1.0) * (square / (1.0 + square)) - 1.0;
    return MIN(score, 4.0);
}

void adapt_scale(Group *g, int i, f64 score, int level_bin, int stir_bin)
{
    f64 *level = &g->level_factors[level_bin], *stir = &g->stir_factors[stir_bin];
    g->ratio[i] = within(g->ratio[i] * (1.0 + 0.005 * score), 0.01, 100.0);
    *level = within(*level * (1.0 + 0.003 * score), 0.05, 20.0);
    *stir = within(*stir * (1.0 + 0.005 * score), 0.05, 20.0);
}

void follow(Group *g, int i, f64 known)
{
    int count = g->seen[i] + 1;
    f64 w = g->w[i], rate = 1.0 / ((f64)count + 1.0), apart = known - g->mean[i], variance = g->variance[i];
    rate = MAX(0.005, rate);
    if (count > 20) {
        f64 most = 5.0 * sqrt(variance);
        apart = MAX(apart, -most);
        apart = MIN(apart, most);
    }
    g->seen[i] = MIN(count, 1000);
    g->mean[i] = g->mean[i] + rate * apart;
    variance = variance + rate * (apart * apart - variance);
    g->variance[i] = MAX(variance, 0.01 * w * w);
}
