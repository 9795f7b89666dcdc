/* Student's t of four or ten degrees of freedom, and cells of it. */
#include <math.h>

#include "group.h"

f64 below(f64 x, int shape)
{
    if (shape == TEN) {
        f64 c = 10.0 / (10.0 + x * x);
        f64 series = 1.0 + c * (0.5 + c * (0.375 + c * (0.3125 + c * 0.2734375)));
        f64 share = 0.5 + 0.5 * (x / sqrt(10.0 + x * x)) * series;
        return share > 0.0 ? share : 0.0;
    }
    f64 square = 1.0 + 0.25 * x * x;
    return 0.5 + 0.375 * (x / sqrt(square)) * (1.0 - (x * x) / (12.0 * square));
}

f64 density(f64 x, int shape)
{
    if (shape == TEN) {
        f64 square = 1.0 + 0.1 * x * x, fifth = square * square * square * square * square;
        return 0.38910838396603115 / (fifth * sqrt(square));
    }
    f64 square = 1.0 + 0.25 * x * x;
    return 0.375 / (square * square * sqrt(square));
}

f64 scale_of(int shape) { return shape == TEN ? SCALE_TEN : SCALE_FOUR; }

/* Where, of the 65,536, cells begin. */
typedef struct { f64 centre, scale; i64 reach; int shape; } Curve;

static i64 edge(const Curve *curve, i64 k)
{
    f64 room = (f64)(TOTAL - 2 * curve->reach - 3);
    return (i64)floor(below(((f64)k - 0.5 - curve->centre) / curve->scale, curve->shape) * room) + k + curve->reach + 1;
}

static i64 find_cell(const Curve *curve, i64 at)
{
    i64 low = -curve->reach, high = curve->reach + 1;
    while (high - low > 1) {
        i64 middle = low + (high - low) / 2;
        if (at >= edge(curve, middle)) low = middle;
        else high = middle;
    }
    return low;
}

i64 code_cell(Coder *coder, Bit *escapes, f64 centre, f64 scale, int shape)
{
    int shift = 0;
    while (scale > 64.0) {
        scale *= 0.5;
        centre *= 0.5;
        shift++;
    }
    if (shift > 0) centre -= 0.5 - 0.5 / (f64)((i64)1 << shift);
    i64 reach = (i64)(8.0 * scale) + 3, at = (i64)point(coder), k;
    Curve curve = {centre, scale, reach, shape};
    i64 first = edge(&curve, -reach), last = edge(&curve, reach + 1);
    if (at < first) {
        narrow(coder, 0, (u64)first);
        k = -reach - 1 - (i64)code_integer(coder, escapes);
    } else if (at >= last) {
        narrow(coder, (u64)last, (u64)(TOTAL - last));
        k = reach + 1 + (i64)code_integer(coder, escapes);
    } else {
        k = find_cell(&curve, at);
        i64 start = edge(&curve, k);
        narrow(coder, (u64)start, (u64)(edge(&curve, k + 1) - start));
    }
    if (shift == 0) return k;
    i64 most = (i64)1 << (44 - shift); /* no encoder goes farther */
    k = MIN(MAX(k, -most), most);
    return k * ((i64)1 << shift) + (i64)code_bits(coder, shift);
}
