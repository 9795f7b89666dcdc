/* Frames: what they are, and whether their checksum fits. */
#include <string.h>
#include <zlib.h>

#include "ost.h"

enum { TINY = 8, SHORT_ONE = 64, SHORT_TWO = 256, ESCAPE = 0x7f };

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

static int is_plain(Frame *frame, Bytes data, const Checks *checks, const Chain *chain)
{
    u64 size = size_of_bytes(data);
    u64 most = checks->version == 1 ? SHORT_ONE : SHORT_TWO;
    u32 seed = size <= most && checks->version == 1 ? chain->anchor : chain->seed;
    u32 start = seed ^ 0x4f535430, number = (u32)chain->number, check;
    const u8 *end = data.end;
    frame->kind = READINGS;
    frame->flags = 0;
    if (size <= TINY) {
        /* The checksum begins in the middle of a byte. */
        memcpy(frame->tiny, data.at, size);
        frame->tiny[size - 2] &= 0xf0;
        frame->body = (Bytes){frame->tiny, frame->tiny + size - 1};
        check = checksum(12, start, frame->tiny, size - 1) ^ (number & 0xfff);
        return check == ((u32)(end[-2] & 15) << 8 | end[-1]);
    }
    if (size <= most) {
        frame->body = (Bytes){data.at, end - 2};
        check = checksum(16, start, data.at, size - 2) ^ (number & 0xffff);
        return check == (end[-2] | (u32)end[-1] << 8);
    }
    frame->body = (Bytes){data.at, end - 4};
    return checksum(32, start, data.at, size - 4) == word(end - 4);
}

/* Whether a first byte is possible; `alone` if the frame can be read without knowing the ones before it. */
static int is_mark(int mark, const Checks *checks, int *alone)
{
    int kind = mark & 7, flags = mark & (RESTART | TIMED);
    *alone = flags & RESTART || kind >= HEADER;
    return mark < 64 && kind <= (checks->version == 1 ? END : INDEX) && !(flags && kind >= HEADER);
}

static int is_marked(Frame *frame, Bytes data, const Checks *checks, const Chain *chain)
{
    u64 size = size_of_bytes(data);
    int alone;
    if (size < 5 || !is_mark(data.at[0], checks, &alone) || !(alone || chain)) return 0;
    u32 seed = alone ? checks->start : chain->seed;
    frame->kind = data.at[0] & 7;
    frame->flags = data.at[0] & (RESTART | TIMED);
    frame->body = (Bytes){data.at + 1, data.end - 4};
    return checksum(32, seed ^ 0x4f535431, data.at, size - 4) == word(data.end - 4);
}

/* Frames without checksums: only those that restart the state have one. */
static int is_unchecked(Frame *frame, Bytes data, const Checks *checks, const Chain *chain)
{
    int alone;
    if (data.at == data.end || data.at[0] != ESCAPE) {
        *frame = (Frame){.kind = READINGS, .body = data};
        return !!chain;
    }
    data.at++;
    if (data.at == data.end || !is_mark(data.at[0], checks, &alone)) return 0;
    if (alone) return is_marked(frame, data, checks, chain);
    *frame = (Frame){.kind = data.at[0] & 7, .flags = data.at[0] & TIMED, .body = {data.at + 1, data.end}};
    return !!chain;
}

void open_frame(Frame *frame, Bytes data, const Checks *checks, const Chain *chain)
{
    u64 size = size_of_bytes(data);
    if (size < (checks->is_unchecked ? 0 : 2) || size > LONGEST_FRAME) fail("%" PRIu64 " bytes are no frame", size);
    if (checks->is_unchecked) {
        if (is_unchecked(frame, data, checks, chain)) return;
    } else {
        if (chain && is_plain(frame, data, checks, chain)) return;
        if (is_marked(frame, data, checks, chain)) return;
    }
    fail("a frame is damaged, or does not follow the ones before it");
}

int next_frame(Bytes *file, Bytes *data)
{
    Bytes rest = *file;
    while (rest.at < rest.end && *rest.at >= 0x80 && rest.at - file->at < 10) rest.at++;
    if (rest.at == rest.end) return 0;
    rest = *file;
    u64 size = varint(&rest, LONGEST_FRAME);
    if (size > size_of_bytes(rest)) return 0;
    data->at = take(&rest, size);
    data->end = rest.at;
    *file = rest;
    return 1;
}

Chain chain_after(Chain chain, const Checks *checks, const Frame *frame, Bytes data, u32 digest)
{
    u8 mark = (u8)(frame->kind | frame->flags);
    if (checks->version == 1) {
        chain.seed = (u32)crc32(chain.seed, data.at, (uInt)size_of_bytes(data));
    } else {
        chain.seed = (u32)crc32(chain.seed, &mark, 1);
        if (frame->body.at < frame->body.end)
            chain.seed = (u32)crc32(chain.seed, frame->body.at, (uInt)size_of_bytes(frame->body));
    }
    if (frame->kind == READINGS) chain.seed ^= digest;
    chain.number++;
    if (chain.number == 1 || chain.number % 64 == 0) chain.anchor = chain.seed;
    return chain;
}
