/* The header of a stream: as much JSON as it needs. Its text ends with a zero byte. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "ost.h"

static const char *space(const char *at) { return at + strspn(at, " \t\r\n"); }

static const char *skip(const char *at, int depth)
{
    at = space(at);
    if (depth > 50) fail("the header is nested too deeply");
    if (*at == '"') {
        for (at++; *at != '"'; at++)
            if (!*at || (*at == '\\' && !*++at)) fail("the header is damaged: a text does not end");
        return at + 1;
    }
    if (*at == '{' || *at == '[') {
        char last = *at == '{' ? '}' : ']';
        at = space(at + 1);
        while (*at != last) {
            at = space(skip(at, depth + 1));
            if (*at == ':' && last == '}') at = space(skip(at + 1, depth + 1));
            if (*at == ',') at = space(at + 1);
            else if (*at != last) fail("the header is damaged: it is no JSON");
        }
        return at + 1;
    }
    size_t size = strcspn(at, ",:]}\" \t\r\n");
    if (!size) fail("the header is damaged: it is no JSON");
    return at + size;
}

/* What an object holds at a key, NULL if nothing. */
static const char *find(const char *object, const char *key)
{
    const char *found = NULL, *at = space(object);
    if (*at != '{') fail("the header is damaged: %s is looked for in what is no object", key);
    for (at = space(at + 1); *at == '"';) {
        const char *name = at + 1;
        at = space(skip(at, 0));
        if (*at++ != ':') fail("the header is damaged: it is no JSON");
        if (!strncmp(name, key, strlen(key)) && name[strlen(key)] == '"') found = space(at);
        at = space(skip(at, 0));
        if (*at == ',') at = space(at + 1);
    }
    return found;
}

static const char *need(const char *object, const char *key)
{
    const char *found = find(object, key);
    if (!found) fail("the header has no %s", key);
    return found;
}

static long integer(const char *at, long least, long most, const char *what)
{
    char *end;
    long value = strtol(at, &end, 10);
    if (end == at || !strchr(",]} \t\r\n", *end) || value < least || value > most)
        fail("the header's %s is not an integer from %ld to %ld", what, least, most);
    return value;
}

static unsigned hexadecimal(const char *at)
{
    char digits[5] = {0};
    memcpy(digits, at, strcspn(at, "\"") < 4 ? 0 : 4);
    if (strspn(digits, "0123456789abcdefABCDEF") != 4) fail("the header is damaged: an escape is no number");
    return (unsigned)strtoul(digits, NULL, 16);
}

/* Print a JSON text as a field of CSV. */
static void print_text(const char *at)
{
    if (*at != '"') fail("the header is damaged: a name is no text");
    putchar('"');
    for (at++; *at != '"'; at++) {
        static const char escapes[] = "b\bf\fn\nr\rt\t";
        unsigned code = (u8)*at;
        if (*at == '\\' && *++at == 'u') {
            code = hexadecimal(at + 1);
            at += 4;
            if (code >= 0xd800 && code < 0xdc00 && at[1] == '\\' && at[2] == 'u') {
                code = 0x10000 + ((code - 0xd800) << 10) + (hexadecimal(at + 3) - 0xdc00);
                at += 6;
            }
            if (code >= 0x10000) printf("%c%c", 0xf0 | code >> 18, 0x80 | (code >> 12 & 63));
            else if (code >= 0x800) putchar((int)(0xe0 | code >> 12));
            if (code >= 0x800) putchar((int)(0x80 | (code >> 6 & 63)));
            else if (code >= 0x80) putchar((int)(0xc0 | code >> 6));
            if (code >= 0x80) code = 0x80 | (code & 63);
        } else if (at[-1] == '\\') {
            const char *escape = strchr(escapes, *at);
            code = escape && (escape - escapes) % 2 == 0 ? (u8)escape[1] : (u8)*at;
        }
        if (code == '"') putchar('"');
        putchar((int)code);
    }
    putchar('"');
}

Header read_header(Bytes packed)
{
    uLong size = (uLong)(packed.end - packed.at), room = 200 * size;
    char *text = zeros(room + 1, 1);
    z_stream stream = {0};
    stream.next_in = (Bytef *)packed.at;
    stream.avail_in = (uInt)size;
    stream.next_out = (Bytef *)text;
    stream.avail_out = (uInt)room;
    if (inflateInit(&stream) != Z_OK || inflate(&stream, Z_FINISH) != Z_STREAM_END || stream.avail_in)
        fail("the header is damaged");
    inflateEnd(&stream);
    if (*space(skip(text, 0))) fail("the header is damaged: text follows it");
    const char *schema = need(text, "schema"), *codec = need(text, "codec");
    const char *period = find(need(text, "options"), "period"), *time = find(schema, "time");
    if (strncmp(codec, "\"conditional\"", 13)) fail("this file needs another codec: %.12s", codec);
    Header header = {0};
    header.schema = schema;
    header.n = (u64)integer(need(schema, "n"), 1, MOST_SENSORS, "n");
    header.period = period ? (int)integer(period, 0, MOST_PERIOD, "period") : 0;
    if (header.n * (u64)(header.period + 2) > MOST_REMEMBERED)
        fail("a period of %d samples is too much", header.period);
    header.timed = time && *time == '[';
    return header;
}

void print_header(const Header *header)
{
    const char *names = find(header->schema, "name");
    if (header->timed) print_text(space(find(header->schema, "time") + 1));
    for (u64 i = 0; i < header->n; i++) {
        if (i || header->timed) putchar(',');
        if (!names) {
            printf("%" PRIu64, i);
            continue;
        }
        if (*names != (i ? ',' : '[')) fail("the header does not name every sensor");
        names = space(names + 1);
        print_text(names);
        names = space(skip(names, 0));
    }
    putchar('\n');
}
