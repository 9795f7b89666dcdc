/* JSON as RFC 8259 has it, and Infinity; no key comes twice. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ost.h"

typedef struct { const char *at, *end; int brackets, colons, commas; } Parser;

static void damaged(void) { fail("the header of the stream is damaged: it is no JSON"); }

static void check_utf8(const u8 *at, const u8 *end)
{
    while (at < end) {
        u32 code = *at++, least = 0;
        int more = code < 0x80 ? 0 : code < 0xc2 ? -1 : code < 0xe0 ? 1 : code < 0xf0 ? 2 : code < 0xf5 ? 3 : -1;
        if (more < 0 || more > end - at) damaged();
        if (more) code &= 0x3fu >> more;
        least = more == 3 ? 0x10000 : more == 2 ? 0x800 : 0;
        for (; more > 0; more--, at++) {
            if ((*at & 0xc0) != 0x80) damaged();
            code = code << 6 | (*at & 0x3f);
        }
        if (code < least || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) damaged();
    }
}

static Json *new_json(int type)
{
    Json *json = zeros(1, sizeof *json);
    json->type = type;
    return json;
}

void free_json(Json *json)
{
    while (json) {
        Json *next = json->next;
        free_json(json->items);
        free(json->text);
        free(json);
        json = next;
    }
}

static int peek(const Parser *p) { return p->at < p->end ? (u8)*p->at : -1; }

static int accept(Parser *p, int byte)
{
    if (peek(p) != byte) return 0;
    p->at++;
    return 1;
}

static void skip_space(Parser *p)
{
    while (peek(p) == ' ' || peek(p) == '\t' || peek(p) == '\r' || peek(p) == '\n') p->at++;
}

static u32 hexadecimal(Parser *p)
{
    u32 code = 0;
    for (int k = 0; k < 4; k++) {
        static const char digits[] = "0123456789abcdef0123456789ABCDEF";
        const char *found = peek(p) > 0 ? strchr(digits, peek(p)) : NULL;
        if (!found) damaged();
        code = code << 4 | (u32)((found - digits) & 15);
        p->at++;
    }
    return code;
}

static char *put_utf8(char *out, u32 code)
{
    if (code < 0x80) {
        *out++ = (char)code;
        return out;
    }
    int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    *out++ = (char)((0xff00u >> (more + 1) & 0xff) | code >> 6 * more);
    while (more-- > 0) *out++ = (char)(0x80 | (code >> 6 * more & 63));
    return out;
}

static u32 escaped(Parser *p)
{
    static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
    int byte = peek(p);
    const char *name = byte > 0 ? strchr(names, byte) : NULL;
    if (name) {
        p->at++;
        return (u8)values[name - names];
    }
    if (!accept(p, 'u')) damaged();
    u32 code = hexadecimal(p);
    if (code < 0xd800 || code >= 0xdc00 || p->end - p->at < 2 || p->at[0] != '\\' || p->at[1] != 'u') return code;
    Parser back = *p;
    p->at += 2;
    u32 low = hexadecimal(p);
    if (low >= 0xdc00 && low < 0xe000) return 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    *p = back;
    return code;
}

static Json *parse_text(Parser *p)
{
    Json *json = new_json('"');
    const char *stop = p->at + 1;
    while (stop < p->end && *stop != '"') stop += *stop == '\\' ? 2 : 1;
    if (stop >= p->end) damaged();
    char *out = json->text = zeros((u64)(stop - p->at), 1);
    for (p->at++; !accept(p, '"');) {
        u8 byte = (u8)*p->at++;
        if (byte < 0x20) damaged();
        if (byte == '\\') out = put_utf8(out, escaped(p));
        else *out++ = (char)byte;
    }
    json->length = (u64)(out - json->text);
    return json;
}

static void digits(Parser *p)
{
    if (peek(p) < '0' || peek(p) > '9') damaged();
    while (peek(p) >= '0' && peek(p) <= '9') p->at++;
}

static Json *parse_number(Parser *p)
{
    Json *json = new_json('i');
    const char *start = p->at;
    accept(p, '-');
    if (!accept(p, '0')) digits(p);
    if (accept(p, '.')) {
        json->type = 'f';
        digits(p);
    }
    if (accept(p, 'e') || accept(p, 'E')) {
        json->type = 'f';
        if (!accept(p, '-')) accept(p, '+');
        digits(p);
    }
    json->length = (u64)(p->at - start);
    json->text = zeros(json->length + 1, 1);
    memcpy(json->text, start, json->length);
    if (json->type == 'i' && json->length > LONGEST_INTEGER) fail("the header holds an integer that is too long");
    if (json->type == 'f' && isinf(strtod(json->text, NULL))) fail("the header holds a number that is too large");
    return json;
}

static Json *parse_word(Parser *p)
{
    static const char *const words[] = {"null", "true", "false", "Infinity"};
    for (int k = 0; k < 4; k++) {
        u64 size = strlen(words[k]);
        if ((u64)(p->end - p->at) < size || memcmp(p->at, words[k], size)) continue;
        p->at += size;
        return new_json(k == 3 ? 'f' : k ? 't' : 'n');
    }
    damaged();
    return NULL;
}

static int by_text(const void *one, const void *other)
{
    const Json *a = *(const Json *const *)one, *b = *(const Json *const *)other;
    int order = memcmp(a->text, b->text, MIN(a->length, b->length));
    return order ? order : (a->length > b->length) - (a->length < b->length);
}

static void check_unique(const Json *object, u64 count)
{
    const Json **keys = zeros(count, sizeof *keys), *item = object->items;
    for (u64 k = 0; k < count; k++, item = item->next->next) keys[k] = item;
    qsort(keys, count, sizeof *keys, by_text);
    for (u64 k = 1; k < count; k++)
        if (!by_text(&keys[k - 1], &keys[k])) fail("the header is damaged: a key comes twice");
    free(keys);
}

static Json *parse_value(Parser *p);

static Json *parse_items(Parser *p)
{
    Json *json = new_json(*p->at++), **place = &json->items;
    int last = json->type == '{' ? '}' : ']';
    u64 count = 0;
    if (++p->brackets > MOST_BRACKETS) fail("the header holds more than a header can");
    skip_space(p);
    if (accept(p, last)) return json;
    do {
        if (++count > 1 && ++p->commas > MOST_COMMAS) fail("the header holds more than a header can");
        skip_space(p);
        if (last == '}') {
            if (peek(p) != '"') damaged();
            *place = parse_text(p);
            place = &(*place)->next;
            skip_space(p);
            if (!accept(p, ':')) damaged();
            if (++p->colons > MOST_COLONS) fail("the header holds more than a header can");
        }
        *place = parse_value(p);
        place = &(*place)->next;
        skip_space(p);
    } while (accept(p, ','));
    if (!accept(p, last)) damaged();
    if (last == '}') check_unique(json, count);
    return json;
}

static Json *parse_value(Parser *p)
{
    skip_space(p);
    int byte = peek(p);
    if (byte == '"') return parse_text(p);
    if (byte == '{' || byte == '[') return parse_items(p);
    if (byte == '-' || (byte >= '0' && byte <= '9')) return parse_number(p);
    return parse_word(p);
}

Json *parse_json(const char *text, u64 length)
{
    Parser parser = {text, text + length, 0, 0, 0};
    u64 quotes = 0;
    for (u64 k = 0; k < length; k++) quotes += text[k] == '"';
    if (quotes > MOST_QUOTES) fail("the header holds more than a header can");
    check_utf8((const u8 *)text, (const u8 *)text + length);
    Json *json = parse_value(&parser);
    skip_space(&parser);
    if (parser.at != parser.end || json->type != '{') damaged();
    return json;
}

int is_text(const Json *json, const char *text)
{
    return json->type == '"' && json->length == strlen(text) && !memcmp(json->text, text, json->length);
}

const Json *member(const Json *object, const char *key)
{
    for (const Json *item = object->items; item; item = item->next->next)
        if (is_text(item, key)) return item->next;
    return NULL;
}
