/* Which way of coding a sensor pays: running accounts that both sides keep. */
#include <math.h>

#include "group.h"

int rehearses(f64 surprise, i64 t, int n)
{
    return n <= LARGEST_SMALL_GROUP || surprise > SURPRISED || t % 512 == 16 || t % 512 == 17;
}

f64 probability_alone(f64 expected, f64 scale, f64 w, i64 cell, int shape)
{
    f64 centre = scale <= CENTRED * w ? floor(expected + 0.5) : 0.0;
    f64 number = floor(((f64)cell - centre) / w + 0.5);
    f64 excess = fabs(number - (expected - centre) / w) - 8.0 * scale / w - 3.0;
    if (excess > 0.0) {
        f64 probability = shape == FOUR ? FAR_OUT_FOUR : FAR_OUT_TEN;
        for (; excess >= 1.0 && probability > 1e-12; excess *= 0.5) probability *= 0.5;
        return probability;
    }
    f64 upper = ((number + 0.5) * w - (expected - centre)) / scale;
    return below(upper, shape) - below(upper - w / scale, shape) + LEAST * w / MAX(scale, w);
}

void compare(Mixture *m, int i, int n, f64 alone, int is_centred)
{
    Past *past = &m->pasts[i];
    f64 price = n <= LARGEST_SMALL_GROUP ? 0.995 : is_centred ? 0.85 : 0.97;
    f64 gain = -price * log2_of(alone) - m->cost;
    f64 account = KEEP * past->account + MIN(gain, 16.0);
    account = MAX(account, -64.0);
    past->account = MIN(account, 64.0);
    if (past->account < -LEAD) past->mixes = 0;
    else if (past->account > LEAD) past->mixes = 1;
}

f64 shape_account(f64 account, f64 upper, f64 lower, f64 deviation)
{
    f64 four = below(upper / (deviation * SCALE_FOUR), FOUR) - below(lower / (deviation * SCALE_FOUR), FOUR);
    f64 ten = below(upper / (deviation * SCALE_TEN), TEN) - below(lower / (deviation * SCALE_TEN), TEN);
    f64 width = (upper - lower) / deviation, least = LEAST * MIN(width, 1.0);
    account = KEEP * account + log2_of((ten + least) / (four + least));
    account = MAX(account, -40.0);
    return MIN(account, 40.0);
}

int chosen_shape(int shape, f64 account) { return account > SHAPE_LEAD ? TEN : account < -SHAPE_LEAD ? FOUR : shape; }
