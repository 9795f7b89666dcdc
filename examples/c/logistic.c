/* Probabilities of a bit in the logistic domain: integers and tables. */
#include <math.h>

#include "group.h"

/* 2^20 times the logistic function at -12, -11.75, ..., 0; the other half follows by symmetry. */
static const i32 KNOTS[] = {
    6, 8, 11, 14, 18, 22, 29, 37, 48, 61, 78, 101, 129, 166, 213, 274, 352, 451, 580, 744, 955, 1226, 1574, 2020,
    2593, 3327, 4268, 5474, 7018, 8994, 11521, 14747, 18860, 24094, 30736, 39140, 49730, 63005, 79543, 99981,
    124993, 155239, 191287, 233518, 282006, 336406, 395880, 459091, 524288};

static i32 squashed[2 * LARGEST_LOGIT + 1], logits[TOTAL];

static i32 knot(int k) { return k <= 48 ? KNOTS[k] : (1 << 20) - KNOTS[96 - k]; }

void make_tables(void)
{
    for (int x = 0; x <= 2 * LARGEST_LOGIT; x++) {
        int k = MIN(x / 64, 95), along = x - 64 * k;
        i32 value = (knot(k) * (64 - along) + knot(k + 1) * along) >> 10;
        squashed[x] = MIN(MAX(value, 1), TOTAL - 1);
    }
    for (int p = 0, x = 0; p < TOTAL; p++) {
        while (x < 2 * LARGEST_LOGIT && squashed[x] < p) x++;
        logits[p] = x - LARGEST_LOGIT;
    }
}

i32 squash(i32 logit) { return squashed[logit + LARGEST_LOGIT]; }

i32 logit_of_probability(u32 probability) { return logits[probability >> 6]; }

i32 logit_of(f64 share)
{
    f64 p = floor(share * 65536.0);
    return logits[!(p >= 1.0) ? 1 : p > 65535.0 ? 65535 : (int)p];
}

f64 log2_of(f64 x)
{
    int exponent;
    f64 rest = 2.0 * frexp(x, &exponent) - 1.0;
    return (f64)(exponent - 1) + rest * (1.3465553 - 0.3465553 * rest);
}

int code_known(Coder *coder, u32 ones, int bit)
{
    if (!coder) return bit;
    bit = point(coder) < ones;
    if (bit) narrow(coder, 0, ones);
    else narrow(coder, ones, TOTAL - ones);
    return bit;
}
