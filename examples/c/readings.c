/* The readings of one sample, sensor by sensor: expect, decode, adapt. */
#include <math.h>
#include <string.h>

#include "group.h"

/* What is expected of a sensor in time, and after other sensors; the scale of the bell curve, and bins of factors. */
typedef struct { f64 plan, expected, s; int level_bin, stir_bin, mixes; i64 centre, number; } Expectation;

static u32 hashed(u32 hash, u64 value) { return (hash ^ (u32)value) * 16777619u; }

static Expectation expect(Group *g, int i, f64 before, int first)
{
    Fact *fact = &g->facts[i];
    Expectation e = {0};
    f64 w = g->w[i], predicted = g->predicted[i], deviation = sqrt(g->variance[i]);
    f64 farthest = 8.0 * deviation + 16.0 * w;
    int is_usual = g->mixture && fabs(predicted - g->mean[i]) <= 0.25 * farthest;
    if (!(fabs(predicted - before) <= farthest) && !is_usual) predicted = before;
    e.plan = predicted;
    if (g->memories && !first) {
        e.plan = predicted + remembered(&g->memories[i]);
        if (!(fabs(e.plan - before) <= farthest || fabs(e.plan - predicted) <= farthest)) e.plan = predicted;
    }
    f64 level = (e.plan - g->mean[i]) / deviation, bin = floor(level * 2.0) + 5.0;
    if (level >= -2.5) e.level_bin = (int)MIN(bin, LEVELS - 1.0);
    fact->scale = g->spread[i] * g->level_factors[e.level_bin];
    e.expected = e.plan + fact->scale * fact->correction;
    if (!(fabs(e.expected - e.plan) <= farthest)) e.expected = e.plan;
    e.expected = e.expected < -DRIFT ? -DRIFT : e.expected > DRIFT ? DRIFT : e.expected;
    fact->basis = predicted;
    fact->condition = e.expected - e.plan;
    fact->spread = first ? 0.0 : g->spread[i];
    return e;
}

static void widen(Group *g, int i, Expectation *e, f64 factor)
{
    f64 w = g->w[i], stir = g->stir[i] * 3.0;
    e->stir_bin = (int)MIN(stir, STIRS - 1.0);
    f64 s = sqrt(g->pivots[i]) * g->facts[i].scale * g->ratio[i] * g->stir_factors[e->stir_bin] * factor;
    s = s * scale_of(g->shape);
    e->s = !(s < WIDEST_SCALE * w) ? WIDEST_SCALE * w : s < 0.02 * w ? 0.02 * w : s;
}

static void look_around(Group *g, int i, const Expectation *e)
{
    Around *around = &g->mixture->around;
    around->ago = (i64)floor(row_of(g, (i64)g->samples + 2)[i] / g->w[i] + 0.5);
    around->level = e->level_bin;
    around->stir = e->stir_bin;
}

static i64 code_number(Coder *coder, Group *g, int i, Expectation *e)
{
    f64 w = g->w[i];
    if (e->mixes) {
        look_around(g, i, e);
        e->number = code_mixed(coder, g->mixture, i, e->expected / w, e->s / w, 0);
        return e->number * (i64)w;
    }
    if (g->mixture && e->s > CENTRED * w) e->centre = (i64)floor(e->expected / w + 0.5) * (i64)w;
    else e->centre = (i64)floor(e->expected + 0.5);
    e->number = code_cell(coder, g->escapes, (e->expected - (f64)e->centre) / w, e->s / w, g->shape);
    return e->centre + e->number * (i64)w;
}

/* Learn from a cell what is needed at once; return the score of the scale. */
static f64 adapt(Group *g, int i, const Expectation *e, i64 cell)
{
    int n = g->n;
    Fact *fact = &g->facts[i];
    f64 w = g->w[i], s = e->s, expected = e->expected, known = (f64)cell, off = fabs((f64)cell - expected) / (s + 0.3 * w);
    f64 upper = (((f64)e->number + 0.5) * w - (expected - (f64)e->centre)) / s;
    f64 lower = upper - w / s, middle = 0.5 * (upper + lower);
    int narrow_cell = g->mixture && s > NARROW * w;
    f64 score = narrow_cell ? score_of_narrow(middle, g->shape) : score_of(upper, lower, g->shape);
    if (e->number == 0 && w > 1.0 && !e->mixes) known += 0.5 * (expected - known);
    f64 error = known - expected;
    g->stir[i] = 0.7 * g->stir[i] + 0.3 * MIN(off, 6.0);
    adapt_scale(g, i, score, e->level_bin, e->stir_bin);
    f64 trust = 11.0 / (10.0 + error * error / (s * s + 0.05 * w * w)), most = 6.0 * s;
    fact->trust = MIN(trust, 1.0);
    fact->unlimited = (expected - e->plan) + error;
    fact->jump = jump_of(g, i, error, s);
    error = error > most ? most : error < -most ? -most : error;
    fact->error = (expected - e->plan) + error;
    row_of(g, (i64)g->samples)[i] = known;
    f64 share = error / fact->scale;
    for (int j = i + 1; j < n; j++) g->facts[j].correction += g->upper[i * n + j] * share;
    follow(g, i, known);
    return score;
}

static int is_surprise(i64 cell, f64 expected, f64 s, f64 before, f64 w)
{
    return fabs((f64)cell - expected) > 6.0 * s || ((f64)cell == before && s > 8.0 * w);
}

/* Rehearse the mixture if it was not used, compare the two ways, and remember the cell. */
static void settle_accounts(Group *g, int i, const Expectation *e, i64 cell, int tried)
{
    Mixture *m = g->mixture;
    f64 w = g->w[i];
    i64 index = (i64)floor((f64)cell / w + 0.5);
    if (!tried && g->n > LARGEST_SMALL_GROUP) return;
    if (tried) {
        if (!e->mixes) {
            look_around(g, i, e);
            code_mixed(NULL, m, i, e->expected / w, e->s / w, index);
        }
        compare(m, i, g->n, probability_alone(e->expected, e->s, w, cell, g->shape), w > 1.0 && e->s <= CENTRED * w);
        m->around.asked++;
    }
    int repeats = take_cell(m, i, index);
    if (tried) m->around.repeated += repeats;
    m->around.neighbour = index;
}

static void begin_sensor(Group *g, int i, i64 cell)
{
    g->seen[i] = 1;
    g->mean[i] = (f64)cell;
    for (int k = 0; k < g->ring; k++) g->history[k * g->n + i] = (f64)cell;
    if (g->mixture) take_cell(g->mixture, i, (i64)floor((f64)cell / g->w[i] + 0.5));
}

static f64 code_raw(Coder *coder, Group *g, int i)
{
    u64 bits = code_exact(coder, g, i);
    f64 reading;
    g->hash = hashed(hashed(g->hash, bits), bits >> 32);
    memcpy(&reading, &bits, 8);
    return reading;
}

static void code_readings(Coder *coder, Group *g, const Lattice *lattices, f64 *out, u8 *raw)
{
    int n = g->n, coded = 0, surprises = 0;
    i64 t = (i64)g->samples, reference = 0;
    Mixture *m = g->mixture;
    int trial = m && rehearses(m->surprise, t, n);
    f64 *position = row_of(g, t), factor = 1.0;
    if (m) m->around = (Around){.phase = (u64)(t % (g->ring - 2)), .shape = g->shape};
    for (int i = 0; i < n; i++) {
        u32 sensor = g->sensors[i];
        int first = g->seen[i] == 0;
        f64 w = g->w[i], before = row_of(g, t - 1)[i];
        Expectation e = expect(g, i, before, first);
        position[i] = first ? 0.0 : e.expected;
        if (!first) g->facts[i].error = e.expected - e.plan;
        out[sensor] = NAN;
        if (g->gone[i]) {
            g->hash = hashed(g->hash, 1);
            continue;
        }
        widen(g, i, &e, factor);
        e.mixes = m && !first && m->pasts[i].mixes;
        if (code_bit(coder, &g->raw[first], 250)) {
            out[sensor] = code_raw(coder, g, i);
            raw[sensor] = 1;
            continue;
        }
        i64 cell = first ? code_first(coder, g, reference) : code_number(coder, g, i, &e);
        if (cell < -LIMIT || cell > LIMIT) fail("a payload holds numbers that no encoder writes");
        g->hash = hashed(g->hash, (u64)cell);
        reference = cell;
        u64 rest = 0;
        if (lattices[sensor].precision > 0) {
            rest = code_bits(coder, rest_bits(lattices[sensor].precision, cell));
            g->hash = hashed(hashed(g->hash, rest), rest >> 32);
        }
        out[sensor] = value_of(&lattices[sensor], cell, rest);
        if (first) {
            begin_sensor(g, i, cell);
            continue;
        }
        f64 score = adapt(g, i, &e, cell);
        coded++;
        factor *= 1.0 + 0.2 / (1.0 + 0.3 * (f64)coded) * score;
        if (!m) continue;
        if (i == t % n) {
            f64 upper = (f64)cell + 0.5 * w - e.expected;
            g->shape_account = shape_account(g->shape_account, upper, upper - w, e.s / scale_of(g->shape));
        }
        surprises += is_surprise(cell, e.expected, e.s, before, w);
        int tried = e.mixes || (trial && (m->pasts[i].account > -48.0 || t % 4 == 0));
        settle_accounts(g, i, &e, cell, tried);
    }
    if (!m) return;
    m->surprise = m->surprise + 0.05 * ((f64)surprises / (f64)n - m->surprise);
    g->shape = chosen_shape(g->shape, g->shape_account);
}

void code_sample(Coder *coder, Group *g, const Lattice *lattices, f64 *out, u8 *raw)
{
    i64 t = (i64)g->samples;
    code_presence(coder, g->absences, g->presence, g->n, g->gone);
    predict(g);
    memset(g->facts, 0, sizeof *g->facts * (size_t)g->n);
    code_readings(coder, g, lattices, out, raw);
    int left_out = leaves_out_jumps(g);
    judge_jumps(g);
    learn(g);
    const f64 *last = row_of(g, t - 1), *position = row_of(g, t);
    for (int i = 0; g->memories && t > 0 && i < g->n; i++) {
        const Fact *fact = &g->facts[i];
        if (!(fact->spread > 0.0)) continue;
        f64 step = position[i] - last[i] - (left_out ? fact->jump : 0.0), error = position[i] - fact->basis;
        remember(&g->memories[i], i, t, step, error, fact->condition, fact->trust, fact->spread);
    }
    g->samples++;
}
