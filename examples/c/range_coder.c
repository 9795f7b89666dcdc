/* The range coder, adaptive bits and adaptive integers. */
#include "ost.h"

static const Bit EVEN = {EVEN_PROBABILITY, 0};

static u64 next_byte(Coder *coder) { return coder->bytes.at < coder->bytes.end ? *coder->bytes.at++ : 0; }

Coder start_coder(Bytes bytes)
{
    Coder coder = {bytes, 0, (u64)1 << 48};
    for (int i = 0; i < 6; i++) coder.code = coder.code << 8 | next_byte(&coder);
    return coder;
}

u64 point(const Coder *coder)
{
    u64 at = coder->code / (coder->width >> 16);
    return MIN(at, 65535);
}

void narrow(Coder *coder, u64 start, u64 size)
{
    u64 unit = coder->width >> 16;
    if (!size) fail("a symbol has no probability");
    coder->width = unit * size;
    coder->code -= unit * start;
    if (coder->code >= coder->width) coder->code = coder->width - 1;
    while (coder->width < (u64)1 << 40) {
        coder->code = coder->code << 8 | next_byte(coder);
        coder->width <<= 8;
    }
}

u64 code_bits(Coder *coder, int n_bits)
{
    u64 result = 0;
    while (n_bits > 0) {
        int count = MIN(n_bits, 16);
        u64 symbol = point(coder) >> (16 - count);
        narrow(coder, symbol << (16 - count), (u64)1 << (16 - count));
        result = result << count | symbol;
        n_bits -= count;
    }
    return result;
}

void move_bit(Bit *b, int bit, u32 limit)
{
    u64 rate = 327680 / (5 * b->seen + 8);
    if (bit) b->probability += (u32)((4194303 - b->probability) * rate >> 16);
    else b->probability -= (u32)(b->probability * rate >> 16);
    if (b->seen < limit) b->seen++;
}

int code_bit(Coder *coder, Bit *b, u32 limit)
{
    u64 ones = MIN(MAX(b->probability >> 6, RAREST), TOTAL - RAREST);
    int bit = point(coder) < ones;
    if (bit) narrow(coder, 0, ones);
    else narrow(coder, ones, TOTAL - ones);
    move_bit(b, bit, limit);
    return bit;
}

u64 code_integer(Coder *coder, Bit *bits)
{
    int k = 0;
    while (k < INTEGER_BITS && code_bit(coder, &bits[k], 60)) k++;
    return ((u64)1 << k) + code_bits(coder, k) - 1;
}

void make_even(Bit *bits, int count)
{
    for (int k = 0; k < count; k++) bits[k] = EVEN;
}
