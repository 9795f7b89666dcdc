/* When samples were taken, as version 2 of the format tells it. */
#include <math.h>
#include <string.h>

#include "ost.h"

enum { GRID, MEAN, LAST, REPETITION };
enum { MAKE_UP = 48, FIRST_CANDIDATE = 49, OTHER_CANDIDATES = 64, DIVISIBLE = 68 };
enum { LENGTH_BITS = 7, LONGEST = 68, SIGN = 128, SHAPE = 197 };

static const i128 ONE = (i128)1 << 32;

/* What codes or only learns: without a coder bits are known already. `cost` is in sixteenths of a bit. */
typedef struct { Coder *coder; i64 cost; } Teller;

static i128 size_of(i128 v) { return v < 0 ? -v : v; }

/* Rounded down; b is above 0. */
static i128 quotient(i128 a, i128 b) { return a / b - (a % b < 0); }

static i128 divisor(i128 a, i128 b)
{
    a = size_of(a), b = size_of(b);
    while (b) {
        i128 rest = a % b;
        a = b, b = rest;
    }
    return a;
}

static int bits_of(i128 v)
{
    int n = 0;
    for (v = size_of(v); v; v >>= 1) n++;
    return n;
}

static i64 checked(i128 time)
{
    if (time < INT64_MIN || time > INT64_MAX) fail("times run out of 64 bits");
    return (i64)time;
}

static int tell_bit(Teller *teller, Bit *b, int bit)
{
    u32 ones = b->probability >> 14;
    if (teller->coder) {
        bit = code_bit(teller->coder, b, MOST_SEEN);
    } else {
        u64 rate = 327680 / (5 * b->seen + 8);
        if (bit) b->probability += (u32)((4194303 - b->probability) * rate >> 16);
        else b->probability -= (u32)(b->probability * rate >> 16);
        if (b->seen < MOST_SEEN) b->seen++;
    }
    teller->cost += (i64)floor(16 * log2(256 / ((bit ? ones : 255 - ones) + 0.5)) + 0.5);
    return bit;
}

static i128 tell_signed(Teller *teller, Bit *bits, i128 value)
{
    i128 size = size_of(value);
    int node = 1, length = bits_of(value);
    for (int level = LENGTH_BITS - 1; level >= 0; level--)
        node = 2 * node + tell_bit(teller, &bits[node], length >> level & 1);
    length = node - (1 << LENGTH_BITS);
    if (length == 0) return 0;
    if (length > LONGEST) fail("times run out of 64 bits");
    int negative = tell_bit(teller, &bits[SIGN + length], value < 0), left = length - 1;
    for (node = 1; left > 0 && node < 8;) {
        left--;
        node = 2 * node + tell_bit(teller, &bits[SHAPE + 8 * length + node], (int)(size >> left & 1));
    }
    teller->cost += 16 * left;
    if (teller->coder) size = (i128)node << left | code_bits(teller->coder, left);
    return negative ? -size : size;
}

static i128 tell_unknown(Coder *coder)
{
    int length = (int)code_bits(coder, LENGTH_BITS);
    if (length > 65) fail("times run out of 64 bits");
    if (length == 0) return 0;
    int negative = (int)code_bits(coder, 1);
    i128 size = (i128)1 << (length - 1) | code_bits(coder, length - 1);
    return negative ? -size : size;
}

static void forget_residuals(AdaptiveTimes *t)
{
    memset(t->accounts, 0, sizeof t->accounts);
    make_even(t->residuals[0], 3 * SIGNED_BITS);
}

void restart_adaptive_times(AdaptiveTimes *t)
{
    memset(t, 0, sizeof *t);
    t->answers = t->ranks = 15;
    t->quantum = 1;
    make_even(t->questions, QUESTIONS);
    for (int k = 0; k < QUESTIONS; k++)
        if (k < MAKE_UP || k == DIVISIBLE) t->questions[k] = (Bit){3932160, 2};
    forget_residuals(t);
}

/* The questions of repetition in their order, and the step that each asks for; 0 after the last one. */
static int question(AdaptiveTimes *t, int number, Bit **b, i128 *step)
{
    int longer = t->run < t->run_before ? 0 : t->run == t->run_before ? 1 : 2, rank = number - 1 - t->missed;
    if (number == 0) *b = &t->questions[16 * longer + t->answers], *step = t->nominal;
    else if (number == 1 && t->missed) *b = &t->questions[MAKE_UP], *step = 2 * t->nominal - t->step;
    else if (rank < t->n_candidates)
        *b = &t->questions[rank ? OTHER_CANDIDATES + rank : FIRST_CANDIDATE + t->ranks], *step = t->candidates[rank];
    else return 0;
    return 1;
}

/* Ask them; 0 if no answer is yes. */
static int repetition(AdaptiveTimes *t, Teller *teller, i128 *step)
{
    Bit *b;
    i128 asked;
    for (int number = 0; question(t, number, &b, &asked); number++)
        if (tell_bit(teller, b, *step == asked)) {
            *step = asked;
            return 1;
        }
    return 0;
}

static i128 likely(AdaptiveTimes *t)
{
    Bit *b;
    i128 asked;
    for (int number = 0; question(t, number, &b, &asked); number++)
        if (b->probability >= EVEN_PROBABILITY) return asked;
    return t->nominal;
}

static void remember(AdaptiveTimes *t, i128 step)
{
    int hit = step == t->nominal, twice = step == t->step, at = 0;
    t->answers = (2 * t->answers + hit) & 15;
    if (hit) {
        t->run = MIN(t->run + 1, INT32_MAX);
    } else {
        t->run_before = t->run;
        t->run = 0;
        if (t->n_candidates) t->ranks = (2 * t->ranks + (step == t->candidates[0])) & 15;
        while (at < t->n_candidates && t->candidates[at] != step) at++;
        if (at == t->n_candidates) t->n_candidates = MIN(t->n_candidates + 1, CANDIDATES);
        for (at = MIN(at, CANDIDATES - 1); at > 0; at--) t->candidates[at] = t->candidates[at - 1];
        t->candidates[0] = twice ? t->nominal : step;
        if (twice) t->nominal = step;
    }
    t->missed = !hit && !twice;
    t->step = step;
}

static i128 base(const AdaptiveTimes *t, int k)
{
    i128 step = 0;
    if (k == MEAN) step = (t->mean + ONE / 2) >> 32;
    if (k == GRID) {
        i128 time = (t->at + t->period + ONE / 2) >> 32;
        step = MIN(MAX(time, INT64_MIN), INT64_MAX) - (i128)t->last;
    }
    return quotient(step + (t->quantum >> 1), t->quantum) * t->quantum;
}

static void learn_grid(AdaptiveTimes *t, i64 time, i128 step)
{
    t->at += t->period;
    i128 error = time * ONE - t->at, length = size_of(t->period), most = (i128)1 << 96;
    if (length > 0) {
        i128 periods = quotient(error + (length >> 1), length) * length;
        t->at += periods;
        error -= periods;
    }
    int n = MIN(t->grid_seen + 1, 300);
    i128 bound = n > 8 ? 8 * t->grid_spread + ONE : size_of(error);
    if (size_of(error) <= bound) {
        t->outliers = 0;
        t->at += quotient(error * (4 * n - 2), n * (n + 1));
        t->period += quotient(error * 6, n * (n + 1));
        t->period = MIN(MAX(t->period, -most), most);
        t->grid_seen = n;
    } else {
        t->outliers++;
        if (t->outliers > 1) t->at = time * ONE;
        if (t->outliers == 4) t->period = step * ONE, t->grid_seen = 2, t->outliers = 0;
    }
    t->grid_spread += quotient(MIN(size_of(error), bound) - t->grid_spread, MIN(n, 16));
}

static void learn_mean(AdaptiveTimes *t, i128 step)
{
    i128 error = step * ONE - t->mean, bound = 8 * t->mean_spread + ONE;
    int n = MIN(t->mean_seen + 1, 300);
    if (n > 8) error = MIN(MAX(error, -bound), bound);
    t->mean += quotient(error, n);
    t->mean_spread += quotient(size_of(error) - t->mean_spread, MIN(n, 16));
    t->mean_seen = n;
}

static void adjust_quantum(AdaptiveTimes *t, i128 step)
{
    i128 quantum = t->quantum;
    if (step % quantum) {
        t->odd_quantum = divisor(t->odd_quantum ? t->odd_quantum : quantum, step);
        t->odd += 4;
        if (t->odd >= 8) quantum = t->odd_quantum;
    } else {
        t->odd = MAX(t->odd - 1, 0);
    }
    if (t->odd == 0) t->odd_quantum = 0;
    t->window_quantum = divisor(t->window_quantum, step);
    if (++t->unforeseen == 64) {
        i128 wider = divisor(t->window_quantum, t->nominal);
        for (int k = 0; k < t->n_candidates; k++) wider = divisor(wider, t->candidates[k]);
        quantum = MAX(quantum, wider);
        t->unforeseen = 0;
        t->window_quantum = 0;
    }
    if (quantum == t->quantum) return;
    t->quantum = quantum;
    t->odd = 0;
    t->odd_quantum = 0;
    forget_residuals(t);
}

static int best_residual(const AdaptiveTimes *t)
{
    int best = GRID;
    for (int k = MEAN; k <= LAST; k++)
        if (t->accounts[k] < t->accounts[best]) best = k;
    return best;
}

static int repeats(const AdaptiveTimes *t) { return t->accounts[REPETITION] <= t->accounts[best_residual(t)] + 64; }

static void enter(AdaptiveTimes *t, int k, i64 cost) { t->accounts[k] += (256 * cost - t->accounts[k]) >> 5; }

/* `costs` are below 0 where a description did not code the step. */
static void learn(AdaptiveTimes *t, i64 time, i128 step, i64 *costs)
{
    int odd = step % t->quantum != 0, best = best_residual(t), made_up = t->missed && step == 2 * t->nominal - t->step;
    int unforeseen = !made_up && step != t->nominal;
    for (int k = 0; k < t->n_candidates; k++) unforeseen &= t->candidates[k] != step;
    for (int k = GRID; k <= REPETITION; k++) {
        Teller learning = {NULL, 0};
        i128 answer = step;
        if (k < REPETITION && odd) learning.cost = 16 * (LENGTH_BITS + bits_of(step));
        else if (costs[k] >= 0) continue;
        else if (k == REPETITION) repetition(t, &learning, &answer);
        else tell_signed(&learning, t->residuals[k], (step - base(t, k)) / t->quantum);
        costs[k] = learning.cost;
    }
    if (unforeseen) costs[REPETITION] += costs[best];
    for (int k = GRID; k <= REPETITION; k++) enter(t, k, costs[k]);
    learn_grid(t, time, step);
    learn_mean(t, step);
    t->last = time;
    remember(t, step);
    if (unforeseen || (odd && !made_up)) adjust_quantum(t, step);
}

static void told_time(AdaptiveTimes *t, Coder *coder)
{
    if (!t->known++) {
        t->last = checked(tell_unknown(coder));
        return;
    }
    i128 step = 0;
    i64 costs[] = {-1, -1, -1, -1};
    if (t->known == 2) {
        t->step = t->nominal = step = tell_unknown(coder);
        t->last = checked(t->last + step);
        t->quantum = MAX(size_of(step), 1);
        t->at = t->last * ONE;
        t->period = t->mean = step * ONE;
        t->grid_seen = 2;
        t->mean_seen = 1;
        return;
    }
    t->known = 3;
    int best = best_residual(t), found = 0;
    Teller teller = {coder, 0};
    if (repeats(t)) {
        found = repetition(t, &teller, &step);
        costs[REPETITION] = teller.cost;
    }
    if (!found) {
        if (t->quantum > 1 && !code_bit(coder, &t->questions[DIVISIBLE], MOST_SEEN)) {
            step = tell_unknown(coder);
        } else {
            teller.cost = 0;
            step = base(t, best) + t->quantum * tell_signed(&teller, t->residuals[best], 0);
            costs[best] = teller.cost;
        }
    }
    learn(t, checked(t->last + step), step, costs);
}

static void expected_time(AdaptiveTimes *t)
{
    if (!t->known) fail("a frame without times came first");
    if (t->known == 1) return;
    int best = best_residual(t), repeating = repeats(t);
    i128 step = repeating || best == LAST ? likely(t) : base(t, best);
    i64 time = checked(t->last + step), costs[] = {-1, -1, -1, -1};
    if (t->run < 64 || !repeating) {
        learn(t, time, step, costs);
        return;
    }
    Teller learning = {NULL, 0};
    repetition(t, &learning, &step);
    enter(t, REPETITION, learning.cost);
    t->at += step * ONE;
    t->last = time;
    remember(t, step);
}

void decode_adaptive_times(AdaptiveTimes *t, Bytes *section, i64 *out, u64 count)
{
    Coder coder;
    if (section) coder = start_coder(*section);
    for (u64 k = 0; k < count; k++) {
        if (section) told_time(t, &coder);
        else expected_time(t);
        out[k] = t->last;
    }
}
