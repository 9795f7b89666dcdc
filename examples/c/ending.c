/* The end of a file: where reading can begin, how much there is, and a mark. */
#include <stdlib.h>
#include <string.h>

#include "ost.h"

enum { KNOWN = 1, INEXACT = 2, KEYS = 4 };

void add_key(Contents *contents, Key key)
{
    if (contents->n_keys == contents->room) {
        contents->room = 2 * contents->room + 8;
        contents->keys = realloc(contents->keys, sizeof key * contents->room);
        if (!contents->keys) fail("there is not enough memory");
    }
    contents->keys[contents->n_keys++] = key;
}

static void need(int fits)
{
    if (!fits) fail("the end of the file is damaged, or does not fit what is before it");
}

static void check_keys(Bytes *body, const Contents *contents)
{
    Key last = {0, 0, 0};
    need(varint(body, size_of_bytes(*body)) == contents->n_keys);
    for (u64 k = 0; k < contents->n_keys; k++) {
        const Key *key = &contents->keys[k];
        need(varint(body, INT64_MAX) == key->offset - last.offset);
        need(varint(body, INT64_MAX) == key->sample - last.sample);
        need((i128)last.time + unfold(varint(body, UINT64_MAX)) == key->time);
        last = *key;
    }
}

/* What follows the last frame; 0 if it is cut short. */
static int check_mark(Bytes file, const u8 *mark)
{
    u64 left = size_of_bytes(file);
    if (left > 4 || (left && memcmp(file.at, mark, left))) fail("bytes follow the end of the file");
    return left == 4;
}

static int check_trailer(Bytes file, Bytes body, const Contents *contents, u64 size, u64 first)
{
    u8 mark[] = {(u8)size, (u8)(size >> 8), (u8)(size >> 16), 'E'};
    if (!check_mark(file, mark)) return 0;
    int flags = *take(&body, 1);
    need(flags <= 7 && (flags & 3) != INEXACT);
    need(varint(&body, INT64_MAX) == contents->n_samples);
    need(varint(&body, INT64_MAX) == contents->n_missing);
    if (flags & INEXACT) {
        need(single_number(&body) >= 0.0);
        take(&body, 4);
    }
    if (flags & KEYS) check_keys(&body, contents);
    else need(contents->n_keys == 0 || (contents->n_keys == 1 && contents->keys[0].offset == first));
    need(body.at == body.end);
    return 1;
}

static int check_index_and_end(Bytes file, Bytes index, const Checks *checks, u64 n, const Contents *contents, u64 offset)
{
    const u8 *start = file.at;
    Bytes data;
    Frame frame;
    if (!next_frame(&file, &data)) return 0;
    open_frame(&frame, data, checks, NULL);
    need(frame.kind == END);
    u8 mark[] = {(u8)(file.at - start), 'E', 'N', 'D'};
    if (!check_mark(file, mark)) return 0;
    check_keys(&index, contents);
    need(index.at == index.end);
    need(varint(&frame.body, INT64_MAX) == offset);
    need(varint(&frame.body, INT64_MAX) == contents->n_samples);
    need(varint(&frame.body, INT64_MAX) == contents->n_samples * n - contents->n_missing);
    need(varint(&frame.body, INT64_MAX) == contents->n_missing);
    for (int k = 0; k < 2; k++) need(!(number(&frame.body) < 0.0));
    need(frame.body.at == frame.body.end);
    return 1;
}

int check_end(Bytes file, Frame *index, const Checks *checks, const Header *header, const Contents *contents,
              u64 offset, u64 first)
{
    if (header->version == 1) return check_index_and_end(file, index->body, checks, header->n, contents, offset);
    u64 size = size_of_bytes(index->body) + 5 + (u64)checks->is_unchecked, length = 1;
    for (u64 rest = size; rest >= 0x80; rest >>= 7) length++;
    return check_trailer(file, index->body, contents, size + length, first);
}
