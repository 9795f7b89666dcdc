/* One small regression in time that all sensors of a group share, and what is learnt from a sample.
 *
 * Every floating-point operation is rounded by itself and in the order that is written: no fused multiply-add.
 */
#include <math.h>

#include "group.h"

/* What the sample is predicted from, and the prediction. */
void predict(Group *g)
{
    int n = g->n;
    i64 t = (i64)g->samples;
    const f64 *last = row_of(g, t - 1), *before = row_of(g, t - 2);
    const f64 *ago = row_of(g, t + 2), *ago_before = row_of(g, t + 1);
    f64 *f = g->features, common[4], total = 0.0;
    for (int i = 0; i < n; i++) {
        g->deviation[i] = sqrt(g->variance[i]);
        f[i] = (last[i] - before[i] - (leaves_out_jumps(g) ? g->jump[i] : 0.0)) / g->spread[i];
        f[n + i] = (ago[i] - ago_before[i]) / g->spread[i];
        f[2 * n + i] = (ago_before[i] - last[i]) / g->deviation[i];
        f[3 * n + i] = (last[i] - g->mean[i]) / g->deviation[i];
        if (g->seen[i] > 0) total += 1.0;
    }
    for (int k = 0; k < 4; k++) {
        f64 sum = f[k * n] * (g->seen[0] > 0 ? 1.0 : 0.0);
        for (int i = 1; i < n; i++) sum += f[k * n + i] * (g->seen[i] > 0 ? 1.0 : 0.0);
        common[k] = sum / MAX(total, 1.0);
    }
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < 3; k++) {
            f64 unit = k == 2 ? g->deviation[i] : g->spread[i];
            f[(4 + k) * n + i] = unit * common[k];
            f[k * n + i] = f[k * n + i] * unit - f[(4 + k) * n + i];
        }
        f[7 * n + i] = g->deviation[i] * common[3];
        f[3 * n + i] = f[3 * n + i] * g->deviation[i];
        g->predicted[i] = last[i];
        for (int k = 0; k < N_FEATURES; k++) g->predicted[i] += f[k * n + i] * g->weights[k];
    }
}

/* Elimination without pivoting. */
void solve(f64 *a, int n, f64 *solution)
{
    int row = n + 1;
    for (int k = 0; k < n; k++)
        for (int i = k + 1; i < n; i++) {
            f64 factor = a[i * row + k] / a[k * row + k];
            for (int j = k; j <= n; j++) a[i * row + j] -= a[k * row + j] * factor;
        }
    for (int k = n - 1; k >= 0; k--) {
        f64 value = a[k * row + n];
        for (int j = k + 1; j < n; j++) value -= a[k * row + j] * solution[j];
        solution[k] = value / a[k * row + k];
    }
}

static void regress(Group *g)
{
    f64 a[N_FEATURES][N_FEATURES + 1];
    for (int k = 0; k < N_FEATURES; k++) {
        for (int j = 0; j < N_FEATURES; j++) a[k][j] = g->sums[MAX(j, k)][MIN(j, k)];
        a[k][k] = a[k][k] * 1.0001 + 1.0;
        a[k][N_FEATURES] = g->sums[N_FEATURES][k];
    }
    solve(a[0], N_FEATURES, g->weights);
}

static void factorise(Group *g)
{
    int n = g->n;
    f64 *upper = g->upper;
    for (int i = 0; i < n; i++) {
        for (int j = i + 1; j < n; j++) upper[i * n + j] = g->covariance[i * n + j] * 0.95;
        f64 extra = 0.0001 + 0.04 * (g->w[i] * g->w[i] / (g->spread[i] * g->spread[i]));
        upper[i * n + i] = g->covariance[i * n + i] + extra;
    }
    for (int k = 0; k < n; k++) {
        g->pivots[k] = upper[k * n + k];
        for (int j = k + 1; j < n; j++) g->quotient[j] = upper[k * n + j] / g->pivots[k];
        for (int i = k + 1; i < n; i++)
            for (int j = i; j < n; j++) upper[i * n + j] -= g->quotient[i] * upper[k * n + j];
        for (int j = k + 1; j < n; j++) upper[k * n + j] = g->quotient[j];
    }
}

static void add_products(Group *g)
{
    int n = g->n;
    const f64 *f = g->features;
    const Fact *facts = g->facts;
    for (int k = 0; k <= N_FEATURES; k++)
        for (int j = 0; j <= k; j++) {
            f64 sum = f[k * n] * facts[0].trust * f[j * n];
            for (int i = 1; i < n; i++) sum += f[k * n + i] * facts[i].trust * f[j * n + i];
            g->sums[k][j] = g->sums[k][j] * 0.998 + sum;
        }
}

void learn(Group *g)
{
    int n = g->n;
    i64 t = (i64)g->samples;
    const f64 *last = row_of(g, t - 1), *position = row_of(g, t);
    f64 total = 0.0, large = 0.0, there = 0.0, far = 0.0;
    if (t == 0) return;
    for (int i = 0; i < n; i++) {
        Fact *fact = &g->facts[i];
        f64 w = g->w[i], error = fact->error / fact->scale, unlimited = fact->unlimited / fact->scale;
        error = MAX(error, -12.0);
        fact->error = MIN(error, 12.0);
        if (fact->trust > 0.0) {
            f64 square = fact->error * fact->error, unlimited_square = unlimited * unlimited;
            total += MIN(square, 16.0);
            large += MIN(unlimited_square, VERY_FAR);
            if (unlimited_square > VERY_FAR) far += 1.0;
            there += 1.0;
            fact->trust = fact->trust / (fact->scale * fact->scale * g->covariance[i * n + i] + 0.1 * w * w);
        }
        g->features[N_FEATURES * n + i] = position[i] - last[i];
    }
    if (g->mixture && t < START && far + far > there) total = large;
    add_products(g);
    f64 rate = 1.0 / ((f64)t + 3.0), quick = 1.0 / ((f64)t + 2.0);
    rate = MAX(0.002, rate);
    quick = MAX(0.01, quick);
    f64 shared = 0.8 * (total / MAX(there, 1.0)) + 0.2;
    for (int i = 0; i < n; i++)
        for (int j = i; j < n; j++) {
            f64 *entry = &g->covariance[i * n + j];
            *entry += (g->facts[i].error * g->facts[j].error - *entry) * rate;
        }
    for (int i = 0; i < n; i++) {
        f64 own = shared, square = g->facts[i].error * g->facts[i].error, w = g->w[i], spread = g->spread[i];
        if (g->facts[i].trust > 0.0) own = 0.8 * (total / there) + 0.2 * MIN(square, 16.0);
        else g->covariance[i * n + i] += rate * g->pivots[i];
        g->spread[i] = sqrt(spread * spread * (1.0 + quick * (own - 1.0)) + 0.0004 * w * w);
    }
    i64 every = t >= 128 ? MAX(4, n / 12) : 4;
    if (t % every != 0 && t >= (n <= 64 ? 32 : 8)) return;
    regress(g);
    factorise(g);
    for (int i = 0; i < n; i++)
        if (!(0.0 < g->pivots[i] && g->pivots[i] < 1e30) || !(fabs(g->weights[i % N_FEATURES]) < 1e6)) {
            forget_matrices(g);
            break;
        }
}
