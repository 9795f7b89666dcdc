/* Frames: what they are, and whether their checksum fits. */
#include <string.h>
#include <zlib.h>

#include "ost.h"

static u32 crc_high_first(u32 polynomial, int bits, u32 value, u8 byte)
{
    for (int k = 7; k >= 0; k--) {
        u32 top = (value >> (bits - 1) ^ byte >> k) & 1;
        value = (value << 1 ^ (top ? polynomial : 0)) & ((1u << bits) - 1);
    }
    return value;
}

static u32 checksum(int bits, u32 start, const u8 *data, u64 size)
{
    u8 seed[4] = {(u8)start, (u8)(start >> 8), (u8)(start >> 16), (u8)(start >> 24)};
    if (bits == 32) return (u32)crc32(crc32(0, seed, 4), data, (uInt)size);
    u32 value = (1u << bits) - 1, polynomial = bits == 12 ? 0x80f : 0x1021;
    for (int k = 0; k < 4; k++) value = crc_high_first(polynomial, bits, value, seed[k]);
    for (u64 k = 0; k < size; k++) value = crc_high_first(polynomial, bits, value, data[k]);
    return value;
}

static u32 word(const u8 *at) { return at[0] | (u32)at[1] << 8 | (u32)at[2] << 16 | (u32)at[3] << 24; }

static int is_plain(Frame *frame, Bytes data, const Chain *chain)
{
    u64 size = (u64)(data.end - data.at);
    u32 start = (size <= 64 ? chain->anchor : chain->seed) ^ 0x4f535430, number = (u32)chain->number, check;
    const u8 *end = data.end;
    frame->kind = READINGS;
    frame->flags = 0;
    if (size <= 8) {
        /* The checksum begins in the middle of a byte. */
        memcpy(frame->tiny, data.at, size);
        frame->tiny[size - 2] &= 0xf0;
        frame->body = (Bytes){frame->tiny, frame->tiny + size - 1};
        check = checksum(12, start, frame->tiny, size - 1) ^ (number & 0xfff);
        return check == ((u32)(end[-2] & 15) << 8 | end[-1]);
    }
    if (size <= 64) {
        frame->body = (Bytes){data.at, end - 2};
        check = checksum(16, start, data.at, size - 2) ^ (number & 0xffff);
        return check == (end[-2] | (u32)end[-1] << 8);
    }
    frame->body = (Bytes){data.at, end - 4};
    return checksum(32, start, data.at, size - 4) == word(end - 4);
}

void open_frame(Frame *frame, Bytes data, const Chain *chain)
{
    u64 size = (u64)(data.end - data.at);
    if (size < 2 || size > LONGEST_FRAME) fail("%" PRIu64 " bytes are no frame", size);
    if (chain && is_plain(frame, data, chain)) return;
    if (size >= 5) {
        int mark = data.at[0], kind = mark & 7, flags = mark & (RESTART | TIMED);
        int alone = flags & RESTART || kind >= HEADER;
        int possible = mark < 64 && kind <= END && !(flags && kind >= HEADER) && (alone || chain);
        u32 start = (alone || !chain ? 0 : chain->seed) ^ 0x4f535431;
        frame->kind = kind;
        frame->flags = flags;
        frame->body = (Bytes){data.at + 1, data.end - 4};
        if (possible && checksum(32, start, data.at, size - 4) == word(data.end - 4)) return;
    }
    fail("a frame is damaged, or does not follow the ones before it");
}

Chain chain_after(Chain chain, Bytes data, u32 digest)
{
    chain.seed = (u32)crc32(chain.seed, data.at, (uInt)(data.end - data.at)) ^ digest;
    chain.number++;
    if (chain.number == 1 || chain.number % 64 == 0) chain.anchor = chain.seed;
    return chain;
}
