/* When samples were taken. */
#include "ost.h"

void restart_times(Times *times)
{
    times->known = 0;
    times->last = times->step = 0;
    times->quantum = 1;
    make_even(times->bits, INTEGER_BITS);
}

static i128 size_of(i128 v) { return v < 0 ? -v : v; }

static i64 checked(i128 time)
{
    if (time < INT64_MIN || time > INT64_MAX) fail("times run out of 64 bits");
    return (i64)time;
}

static void take_exact(Times *times, Bytes *section, i64 *out, u64 count)
{
    i128 divisor = 0, difference = 0;
    for (u64 k = 0; k < count; k++) {
        out[k] = (i64)eight_bytes(section);
        if (k == 0) continue;
        difference = (i128)out[k] - out[k - 1];
        for (i128 a = size_of(difference), rest; a; a = rest) {
            rest = divisor % a;
            divisor = a;
        }
    }
    times->step = count > 1 ? difference : times->known ? out[0] - times->last : 0;
    times->quantum = count == 1 ? 1 : count == 2 ? difference : divisor;
    if (times->quantum < 1) times->quantum = 1;
    times->last = out[count - 1];
}

void decode_times(Times *times, Bytes *section, i64 *out, u64 count)
{
    int mode = section ? *take(section, 1) : -1;
    if (mode > 2 || (mode != 0 && mode != 2 && !times->known)) fail("times are told in a way that cannot be");
    if (mode == 2) {
        take_exact(times, section, out, count);
    } else if (mode == 1) {
        Coder coder = start_coder(*section);
        for (u64 k = 0; k < count; k++) {
            times->step += times->quantum * unfold(code_integer(&coder, times->bits));
            times->last += times->step;
            out[k] = checked(times->last);
        }
    } else {
        if (mode == 0) {
            i64 first = unfold(varint(section, UINT64_MAX));
            times->step = unfold(varint(section, UINT64_MAX));
            times->quantum = MAX(size_of(times->step), 1);
            times->last = first - times->step;
        }
        for (u64 k = 0; k < count; k++) out[k] = checked(times->last += times->step);
    }
    times->known = 1;
}
