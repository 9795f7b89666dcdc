/* Sensors that are predicted from each other: presence, prediction, cells, and what is learnt from them.
 *
 * Every floating-point operation is rounded by itself and in the order that is written: no fused multiply-add.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ost.h"

enum { CONTEXTS = 288, FEATURES = 8, LEVELS = 10, STIRS = 8, POWERS = 32 };
#define FARTHEST ((i64)1 << 50)

static f64 *filled(u64 count, f64 value)
{
    f64 *memory = zeros(count, sizeof *memory);
    for (u64 i = 0; i < count; i++) memory[i] = value;
    return memory;
}

/* Student's t of four degrees of freedom, and cells of it. */

static f64 below(f64 x)
{
    f64 square = 1.0 + 0.25 * x * x;
    return 0.5 + 0.375 * (x / sqrt(square)) * (1.0 - (x * x) / (12.0 * square));
}

static f64 density(f64 x)
{
    f64 square = 1.0 + 0.25 * x * x;
    return 0.375 / (square * square * sqrt(square));
}

static i64 edge(i64 k, f64 centre, f64 scale, i64 reach)
{
    f64 room = (f64)(65536 - 2 * reach - 3);
    return (i64)floor(below(((f64)k - 0.5 - centre) / scale) * room) + k + reach + 1;
}

static i64 code_cell(Coder *coder, Bit *escapes, f64 centre, f64 scale)
{
    int shift = 0;
    while (scale > 64.0) {
        scale *= 0.5;
        centre *= 0.5;
        shift++;
    }
    if (shift > 0) centre -= 0.5 - 0.5 / (f64)(1 << shift);
    i64 reach = (i64)(8.0 * scale) + 3, at = (i64)point(coder), k;
    i64 first = edge(-reach, centre, scale, reach), last = edge(reach + 1, centre, scale, reach);
    if (at < first) {
        narrow(coder, 0, (u64)first);
        k = -reach - 1 - (i64)code_integer(coder, escapes);
    } else if (at >= last) {
        narrow(coder, (u64)last, (u64)(65536 - last));
        k = reach + 1 + (i64)code_integer(coder, escapes);
    } else {
        i64 low = -reach, high = reach + 1;
        while (high - low > 1) {
            i64 middle = low + (high - low) / 2;
            if (at >= edge(middle, centre, scale, reach)) low = middle;
            else high = middle;
        }
        k = low;
        i64 start = edge(k, centre, scale, reach);
        narrow(coder, (u64)start, (u64)(edge(k + 1, centre, scale, reach) - start));
    }
    if (shift == 0) return k;
    i64 most = (i64)1 << (44 - shift); /* no encoder goes farther */
    k = MIN(MAX(k, -most), most);
    return k * ((i64)1 << shift) + (i64)code_bits(coder, shift);
}

/* What an integer of a lattice stands for. */
f64 value_of(const Lattice *lattice, i64 c)
{
    f64 value;
    if (lattice->ratio > 0.0) {
        if (c == 0) return 0.0;
        u64 rest = (u64)(c < 0 ? -c : c) - 1;
        f64 power = lattice->ratio;
        value = lattice->numerator;
        for (int k = 0; k < POWERS; k++) {
            if (rest >> k & 1) value = value * power;
            power = power * power;
        }
        if (c < 0) value = -value;
    } else {
        value = ((f64)c * lattice->numerator + lattice->offset) / lattice->denominator;
    }
    return lattice->single ? (f64)(float)value : value;
}

/* The state of a group of sensors, and one sample of it. */

struct Group {
    int n, ring;
    u64 samples;
    u32 hash;
    int *sensors, *seen, *missing, *age, *restless, *gone;
    f64 *w, *history, *mean, *variance, *spread, *ratio, *stir, *pivots, *covariance, *upper;
    f64 *features, *deviation, *predicted, *correction, *scales, *trust, *errors, *quotient;
    f64 level_factors[LEVELS], stir_factors[STIRS], sums[FEATURES + 1][FEATURES + 1], weights[FEATURES];
    Bit raw[2], first_bits[INTEGER_BITS], escapes[INTEGER_BITS], presence[CONTEXTS];
};

static f64 **group_arrays(Group *g, int k)
{
    f64 **arrays[] = {&g->w, &g->history, &g->mean, &g->variance, &g->spread, &g->ratio, &g->stir, &g->pivots,
                      &g->covariance, &g->upper, &g->features, &g->deviation, &g->predicted, &g->correction,
                      &g->scales, &g->trust, &g->errors, &g->quotient};
    return k < (int)(sizeof arrays / sizeof *arrays) ? arrays[k] : NULL;
}

static void forget_matrices(Group *g)
{
    int n = g->n;
    memset(g->covariance, 0, sizeof(f64) * (size_t)(n * n));
    memset(g->upper, 0, sizeof(f64) * (size_t)(n * n));
    memset(g->sums, 0, sizeof g->sums);
    memset(g->weights, 0, sizeof g->weights);
    for (int i = 0; i < n; i++) g->covariance[i * n + i] = g->upper[i * n + i] = g->pivots[i] = 1.0;
}

Group *open_group(const int *sensors, int n, const Lattice *lattices, int period)
{
    Group *g = zeros(1, sizeof *g);
    int **integers[] = {&g->seen, &g->missing, &g->age, &g->restless, &g->gone};
    g->n = n;
    g->ring = MAX(period + 2, 4);
    g->sensors = zeros((u64)n, sizeof(int));
    memcpy(g->sensors, sensors, sizeof(int) * (size_t)n);
    for (int k = 0; k < 5; k++) *integers[k] = zeros((u64)n, sizeof(int));
    g->history = filled((u64)g->ring * (u64)n, 0.0);
    g->covariance = filled((u64)(n * n), 0.0);
    g->upper = filled((u64)(n * n), 0.0);
    g->features = filled((u64)((FEATURES + 1) * n), 0.0);
    for (int k = 0; group_arrays(g, k); k++)
        if (!*group_arrays(g, k)) *group_arrays(g, k) = filled((u64)n, 0.0);
    for (int i = 0; i < n; i++) {
        f64 w = g->w[i] = (f64)lattices[g->sensors[i]].width;
        g->age[i] = 1000;
        g->variance[i] = 4.0 * w * w;
        g->spread[i] = 2.0 * w;
        g->ratio[i] = g->stir[i] = 1.0;
    }
    for (int k = 0; k < LEVELS; k++) g->level_factors[k] = 1.0;
    for (int k = 0; k < STIRS; k++) g->stir_factors[k] = 1.0;
    for (int k = 0; k < CONTEXTS; k++) g->presence[k] = (Bit){83886, 0};
    make_even(g->raw, 2);
    make_even(g->first_bits, INTEGER_BITS);
    make_even(g->escapes, INTEGER_BITS);
    forget_matrices(g);
    return g;
}

void close_group(Group *g)
{
    int *integers[] = {g->sensors, g->seen, g->missing, g->age, g->restless, g->gone};
    for (int k = 0; k < 6; k++) free(integers[k]);
    for (int k = 0; group_arrays(g, k); k++) free(*group_arrays(g, k));
    free(g);
}

static void code_presence(Coder *coder, Group *g)
{
    int went = 0, came = 0;
    for (int i = 0; i < g->n; i++) {
        int before = g->missing[i], ago = g->age[i];
        int recency = ago <= 1 ? 0 : ago <= 3 ? 1 : ago <= 12 ? 2 : ago <= 48 ? 3 : ago <= 200 ? 4 : 5;
        int alike = before ? came : went, other = before ? went : came, often = g->restless[i] >> 13;
        int context = (((before * 6 + recency) * 4 + MIN(alike, 3)) * 2 + MIN(other, 1)) * 3 + MIN(often, 2);
        int change = code_bit(coder, &g->presence[context], 250);
        g->restless[i] -= g->restless[i] >> 5;
        if (change) {
            if (before) came++;
            else went++;
            g->restless[i] += 8192;
            g->age[i] = 1;
            g->missing[i] = 1 - before;
        } else if (ago < 1000) {
            g->age[i] = ago + 1;
        }
        g->gone[i] = g->missing[i];
    }
}

static f64 *row_of(Group *g, i64 t) { return g->history + (t % g->ring + g->ring) % g->ring * g->n; }

/* What the sample is predicted from, and the prediction. */
static void predict(Group *g)
{
    int n = g->n;
    i64 t = (i64)g->samples;
    const f64 *last = row_of(g, t - 1), *before = row_of(g, t - 2);
    const f64 *ago = row_of(g, t + 2), *ago_before = row_of(g, t + 1);
    f64 *f = g->features, common[4], total = 0.0;
    for (int i = 0; i < n; i++) {
        g->deviation[i] = sqrt(g->variance[i]);
        f[i] = (last[i] - before[i]) / g->spread[i];
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
        for (int k = 0; k < FEATURES; k++) g->predicted[i] += f[k * n + i] * g->weights[k];
    }
}

static void solve(Group *g)
{
    f64 a[FEATURES][FEATURES + 1];
    for (int k = 0; k < FEATURES; k++) {
        for (int j = 0; j < FEATURES; j++) a[k][j] = j <= k ? g->sums[k][j] : g->sums[j][k];
        a[k][k] = a[k][k] * 1.0001 + 1.0;
        a[k][FEATURES] = g->sums[FEATURES][k];
    }
    for (int k = 0; k < FEATURES; k++)
        for (int i = k + 1; i < FEATURES; i++) {
            f64 factor = a[i][k] / a[k][k];
            for (int j = k; j <= FEATURES; j++) a[i][j] -= a[k][j] * factor;
        }
    for (int k = FEATURES - 1; k >= 0; k--) {
        f64 value = a[k][FEATURES];
        for (int j = k + 1; j < FEATURES; j++) value -= a[k][j] * g->weights[j];
        g->weights[k] = value / a[k][k];
    }
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

static void learn(Group *g)
{
    int n = g->n;
    i64 t = (i64)g->samples;
    const f64 *last = row_of(g, t - 1), *position = row_of(g, t);
    f64 *f = g->features, *trust = g->trust, *errors = g->errors, total = 0.0, there = 0.0;
    for (int i = 0; i < n; i++) {
        f64 scale = g->scales[i], w = g->w[i];
        errors[i] = MIN(MAX(errors[i] / scale, -12.0), 12.0);
        if (trust[i] > 0.0) {
            f64 square = errors[i] * errors[i];
            total += MIN(square, 16.0);
            there += 1.0;
            trust[i] = trust[i] / (scale * scale * g->covariance[i * n + i] + 0.1 * w * w);
        }
        f[FEATURES * n + i] = position[i] - last[i];
    }
    for (int k = 0; k <= FEATURES; k++)
        for (int j = 0; j <= k; j++) {
            f64 sum = f[k * n] * trust[0] * f[j * n];
            for (int i = 1; i < n; i++) sum += f[k * n + i] * trust[i] * f[j * n + i];
            g->sums[k][j] = g->sums[k][j] * 0.998 + sum;
        }
    f64 rate = 1.0 / ((f64)t + 3.0), quick = 1.0 / ((f64)t + 2.0);
    rate = MAX(0.002, rate);
    quick = MAX(0.01, quick);
    f64 shared = 0.8 * (total / MAX(there, 1.0)) + 0.2;
    for (int i = 0; i < n; i++)
        for (int j = i; j < n; j++)
            g->covariance[i * n + j] += (errors[i] * errors[j] - g->covariance[i * n + j]) * rate;
    for (int i = 0; i < n; i++) {
        f64 own = shared, square = errors[i] * errors[i], w = g->w[i], spread = g->spread[i];
        if (trust[i] > 0.0) own = 0.8 * (total / there) + 0.2 * MIN(square, 16.0);
        else g->covariance[i * n + i] += rate * g->pivots[i];
        g->spread[i] = sqrt(spread * spread * (1.0 + quick * (own - 1.0)) + 0.0004 * w * w);
    }
    i64 every = t >= 128 ? MAX(4, n / 12) : 4;
    if (t % every != 0 && t >= (n <= 64 ? 32 : 8)) return;
    solve(g);
    factorise(g);
    for (int i = 0; i < n; i++)
        if (!(0.0 < g->pivots[i] && g->pivots[i] < 1e30) || !(fabs(g->weights[i % FEATURES]) < 1e6)) {
            forget_matrices(g);
            break;
        }
}

/* Return how much too narrow (above 0) or too wide the distribution was for the cell from `upper - size` to `upper`. */
static f64 score_of(f64 upper, f64 size)
{
    f64 lower = upper - size, chance = below(upper) - below(lower);
    if (!(chance > 1e-9)) return 4.0;
    f64 slope = (lower * density(lower) - upper * density(upper)) / chance;
    slope = MAX(slope, -1.0);
    return MIN(slope, 4.0);
}

/* Move the factors of the scale; `off` is how far from its prediction a reading was. */
static void adapt(Group *g, int i, f64 off, f64 score, int level_bin, int stir_bin)
{
    f64 factor;
    g->stir[i] = 0.7 * g->stir[i] + 0.3 * MIN(off, 6.0);
    factor = g->ratio[i] * (1.0 + 0.005 * score);
    factor = MAX(factor, 0.01);
    g->ratio[i] = MIN(factor, 100.0);
    factor = g->level_factors[level_bin] * (1.0 + 0.003 * score);
    factor = MAX(factor, 0.05);
    g->level_factors[level_bin] = MIN(factor, 20.0);
    factor = g->stir_factors[stir_bin] * (1.0 + 0.005 * score);
    factor = MAX(factor, 0.05);
    g->stir_factors[stir_bin] = MIN(factor, 20.0);
}

static void follow(Group *g, int i, f64 known)
{
    int times = g->seen[i] + 1;
    f64 w = g->w[i], rate = 1.0 / ((f64)times + 1.0), apart = known - g->mean[i], variance;
    rate = MAX(0.005, rate);
    if (times > 20) {
        f64 most = 5.0 * sqrt(g->variance[i]);
        apart = MAX(apart, -most);
        apart = MIN(apart, most);
    }
    g->seen[i] = MIN(times, 1000);
    g->mean[i] = g->mean[i] + rate * apart;
    variance = g->variance[i] + rate * (apart * apart - g->variance[i]);
    g->variance[i] = MAX(variance, 0.01 * w * w);
}

static u32 hashed(u32 hash, u32 value) { return (hash ^ value) * 16777619u; }

u32 hash_of(const Group *g) { return g->hash; }

void code_sample(Coder *coder, Group *g, const Lattice *lattices, f64 *out)
{
    int n = g->n;
    code_presence(coder, g);
    predict(g);
    const f64 *last = row_of(g, (i64)g->samples - 1);
    f64 *position = row_of(g, (i64)g->samples), slot_factor = 1.0;
    i64 reference = 0, coded = 0;
    for (int i = 0; i < n; i++) g->correction[i] = g->trust[i] = g->errors[i] = 0.0;
    for (int i = 0; i < n; i++) {
        f64 w = g->w[i], plan = g->predicted[i], *reading = &out[g->sensors[i]];
        f64 farthest = 8.0 * sqrt(g->variance[i]) + 16.0 * w;
        if (!(fabs(plan - last[i]) <= farthest)) plan = last[i];
        f64 level = (plan - g->mean[i]) / sqrt(g->variance[i]), bin = floor(level * 2.0) + 5.0;
        int level_bin = level >= -2.5 ? (int)MIN(bin, 9.0) : 0, first = g->seen[i] == 0;
        f64 scale = g->scales[i] = g->spread[i] * g->level_factors[level_bin];
        f64 expected = plan + scale * g->correction[i];
        if (!(fabs(expected - plan) <= farthest)) expected = plan;
        int raw = !g->gone[i] && code_bit(coder, &g->raw[first], 250);
        if (g->gone[i] || raw) {
            *reading = NAN;
            if (raw) {
                u64 high = code_bits(coder, 32), low = code_bits(coder, 32), bits = high << 32 | low;
                memcpy(reading, &bits, 8);
                g->hash = hashed(hashed(g->hash, (u32)low), (u32)high);
            } else {
                g->hash = hashed(g->hash, 1);
            }
            position[i] = first ? 0.0 : expected;
            g->errors[i] = first ? 0.0 : expected - plan;
            continue;
        }
        i64 centre = 0, number = 0, c;
        f64 s = 0.0;
        int stir_bin = 0;
        if (first) {
            c = reference + unfold(code_integer(coder, g->first_bits));
        } else {
            f64 stir = g->stir[i] * 3.0;
            stir_bin = (int)MIN(stir, 7.0);
            centre = (i64)floor(expected + 0.5);
            s = sqrt(g->pivots[i]) * scale * g->ratio[i] * g->stir_factors[stir_bin] * slot_factor * 0.7071067811865476;
            if (!(s < 68719476736.0 * w)) s = 68719476736.0 * w; /* 2^36 */
            if (s < 0.02 * w) s = 0.02 * w;
            number = code_cell(coder, g->escapes, (expected - (f64)centre) / w, s / w);
            c = centre + number * (i64)w;
        }
        if (c < -FARTHEST || c > FARTHEST) fail("a payload holds numbers that no encoder writes");
        g->hash = hashed(g->hash, (u32)(u64)c);
        reference = c;
        *reading = value_of(&lattices[g->sensors[i]], c);
        if (first) {
            g->seen[i] = 1;
            g->mean[i] = (f64)c;
            for (int k = 0; k < g->ring; k++) g->history[k * n + i] = (f64)c;
            continue;
        }
        f64 known = (f64)c, score = score_of((((f64)number + 0.5) * w - (expected - (f64)centre)) / s, w / s);
        adapt(g, i, fabs((f64)c - expected) / (s + 0.3 * w), score, level_bin, stir_bin);
        coded++;
        slot_factor *= 1.0 + 0.2 / (1.0 + 0.3 * (f64)coded) * score;
        if (number == 0 && w > 1.0) known += 0.5 * (expected - known);
        f64 error = known - expected, trust = 11.0 / (10.0 + error * error / (s * s + 0.05 * w * w));
        g->trust[i] = MIN(trust, 1.0);
        error = MAX(error, -6.0 * s);
        error = MIN(error, 6.0 * s);
        g->errors[i] = (expected - plan) + error;
        position[i] = known;
        f64 share = error / scale;
        for (int j = i + 1; j < n; j++) g->correction[j] += g->upper[i * n + j] * share;
        follow(g, i, known);
    }
    if (g->samples > 0) learn(g);
    g->samples++;
}
