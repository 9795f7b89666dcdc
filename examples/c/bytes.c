/* Bytes that are read from the front, and what happens when they are not as they should be. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ost.h"

void fail(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fflush(stdout);
    fputs("ost_decode: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    exit(1);
}

void *zeros(u64 count, size_t size)
{
    void *memory = calloc(count ? count : 1, size);
    if (!memory) fail("there is not enough memory");
    return memory;
}

u64 size_of_bytes(Bytes bytes) { return (u64)(bytes.end - bytes.at); }

const u8 *take(Bytes *bytes, u64 count)
{
    if (count > size_of_bytes(*bytes)) fail("the bytes end too early");
    bytes->at += count;
    return bytes->at - count;
}

u64 varint(Bytes *bytes, u64 largest)
{
    u64 value = 0;
    for (int k = 0; k < 10; k++) {
        u8 byte = *take(bytes, 1);
        if (k == 9 && (byte & 0x7e)) break;
        value |= (u64)(byte & 0x7f) << 7 * k;
        if (byte < 0x80) {
            if ((k && !byte) || value > largest) break;
            return value;
        }
    }
    fail("an integer is damaged, or larger than it may be");
    return 0;
}

u64 eight_bytes(Bytes *bytes)
{
    const u8 *raw = take(bytes, 8);
    u64 bits = 0;
    for (int k = 7; k >= 0; k--) bits = bits << 8 | raw[k];
    return bits;
}

f64 number(Bytes *bytes)
{
    u64 bits = eight_bytes(bytes);
    f64 value;
    memcpy(&value, &bits, 8);
    return value;
}

f64 single_number(Bytes *bytes)
{
    const u8 *raw = take(bytes, 4);
    u32 bits = raw[0] | (u32)raw[1] << 8 | (u32)raw[2] << 16 | (u32)raw[3] << 24;
    float value;
    memcpy(&value, &bits, 4);
    return (f64)value;
}

i64 unfold(u64 v) { return v & 1 ? -(i64)((v - 1) / 2) - 1 : (i64)(v / 2); }
