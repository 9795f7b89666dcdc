/* The header of a stream: what is in it, and how it is coded. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "ost.h"

enum { DEFLATED = 1, UNCHECKED = 2 };

/* What headers of version 2 usually hold: deflate refers to it. */
static const char DICTIONARY_OF_HEADERS[] =
    "nameless series numbered\",\"kind\":\"table numbered\",\"kind\":\"table\",\"kind\":\"series\"\"preset\":\"compre"
    "ssion\",\"rotation_error\":0.0\"random_state\":\"memory\":\"threshold\":\"angle_bits\":\"value_bits\":\"n_comp"
    "onents\":Float32Float64booleanInt8UInt16Int32UInt64\"bool\",\"uint8\",\"uint16\",\"int8\",\"int16\",\"int32\""
    ",\"int64\",\"float32\",Europe/America/Asia/UTC+00:00%Y-%m-%dT%H:%M:%S.%f%d/%m/%Y %H:%Mpressuretemper"
    "aturehumidityvoltagecurrentpowerspeedflowlevelsensorstation_\"unit\":[\"degC\",\"%\",\"hPa\",\"ug/m3\",\"m/"
    "s\",\"kWh\",\"V\",\"dtype\":\"int64\",\"dtype\":\"float32\",\"time\":[\"timestamp\",\"ms\",\"\",\"time\":[\"\",\"ns\",\"\",\"t"
    "ime\":[\"date\",\"us\",\"%Y-%m-%d %H:%M\",\"\",\"codec\":\"paper\",\"options\":{\"learn\":true,\"target\":{\"n_nonze"
    "ro\":\"codec\":\"transform\",\"options\":{\"period\":24},\"target\":{\"bits_per_reading\":\"target\":{\"rmse\":0."
    "{\"name\":[\"\",\"unit\":\"degC\",\"time\":[\"time\",\"s\",\"\",\"\"],{\"n\":1\"options\":{\"period\":1440},\"target\":{\"r"
    "elative_error\":0.0{\"target\":{\"max_error\":0}}{\"target\":{\"max_error\":0.5}}";

static char *inflated(Bytes packed, int bits, u64 room, u64 *length)
{
    char *text = zeros(room + 1, 1);
    z_stream stream = {0};
    stream.next_in = (Bytef *)packed.at;
    stream.avail_in = (uInt)size_of_bytes(packed);
    stream.next_out = (Bytef *)text;
    stream.avail_out = (uInt)room;
    int fine = inflateInit2(&stream, bits) == Z_OK;
    if (bits < 0)
        fine = fine && inflateSetDictionary(&stream, (const Bytef *)DICTIONARY_OF_HEADERS,
                                            sizeof DICTIONARY_OF_HEADERS - 1) == Z_OK;
    if (!fine || inflate(&stream, Z_FINISH) != Z_STREAM_END || stream.avail_in) fail("the header is damaged");
    *length = stream.total_out;
    inflateEnd(&stream);
    return text;
}

static char *text_of_version_1(Bytes body, u64 *length)
{
    u64 room = 200 * size_of_bytes(body);
    return inflated(body, 15, MIN(room, 4 * LONGEST_TEXT), length);
}

static char *text_of_version_2(Bytes body, Header *header, u64 *length)
{
    u8 kind = HEADER;
    header->bind = (u32)crc32(crc32(0, &kind, 1), body.at, (uInt)size_of_bytes(body));
    int flags = *take(&body, 1);
    take(&body, 8);
    if (flags > 3) fail("the header is damaged");
    header->is_unchecked = !!(flags & UNCHECKED);
    if (flags & DEFLATED) return inflated(body, -15, LONGEST_TEXT, length);
    *length = size_of_bytes(body);
    char *text = zeros(*length + 1, 1);
    memcpy(text, body.at, *length);
    return text;
}

/* A member that must be there in version 1, and may be left out in version 2; of a type. */
static const Json *part(const Header *header, const char *key, int type)
{
    const Json *found = member(header->json, key);
    if (!found && header->version == 1) fail("the header has no %s", key);
    if (found && found->type != type) fail("the header's %s is not what it should be", key);
    return found;
}

static i64 integer(const Json *json, i64 least, i64 most, const char *what)
{
    i64 value = json->type == 'i' ? strtoll(json->text, NULL, 10) : 0;
    if (json->type != 'i' || value < least || value > most)
        fail("the header's %s is not an integer from %" PRId64 " to %" PRId64, what, least, most);
    return value;
}

/* Halves of a surrogate pair are no characters. */
static void check_text(const Json *json, const char *what)
{
    if (json->type != '"') fail("the header's %s is no text", what);
    for (u64 k = 0; k + 1 < json->length; k++)
        if ((u8)json->text[k] == 0xed && (u8)json->text[k + 1] >= 0xa0) fail("the header's %s is no Unicode", what);
}

static int is_type(const Json *json)
{
    static const char *const types[] = {"bool", "float64", "float32", "Float64", "Float32", "boolean", "int8", "int16",
                                        "int32", "int64", "uint8", "uint16", "uint32", "uint64", "Int8", "Int16",
                                        "Int32", "Int64", "UInt8", "UInt16", "UInt32", "UInt64"};
    for (size_t k = 0; k < sizeof types / sizeof *types; k++)
        if (is_text(json, types[k])) return 1;
    return 0;
}

/* One text for each sensor, or one for all; null is as if left out, but for types. */
static void check_texts(const Header *header, const char *key, int are_types)
{
    const Json *given = member(header->schema, key);
    u64 count = 0;
    if (!given || (given->type == 'n' && !are_types)) return;
    if (given->type != '[') {
        check_text(given, key);
        if (are_types && !is_type(given)) fail("the header names an unknown type of a column");
        return;
    }
    for (const Json *item = given->items; item; item = item->next, count++) {
        check_text(item, key);
        if (are_types && !is_type(item)) fail("the header names an unknown type of a column");
    }
    if (count != header->n) fail("the header's %s is not one text for each sensor", key);
}

static void check_time(Header *header)
{
    const Json *time = member(header->schema, "time");
    u64 count = 0;
    if (!time || time->type == 'n') return;
    for (const Json *item = time->items; time->type == '[' && item; item = item->next, count++) check_text(item, "time");
    if (count != 4) fail("the header's time axis is not four texts");
    header->is_timed = 1;
}

static void check_kind(const Header *header)
{
    static const char *const kinds[] = {"array", "table", "table numbered", "series", "series numbered", "nameless series"};
    const Json *kind = member(header->schema, "kind");
    int known = !kind;
    for (int k = 0; !known && k < 6; k++) known = is_text(kind, kinds[k]);
    if (!known) fail("the header names an unknown kind of table");
}

static void check_options(Header *header)
{
    const Json *codec = part(header, "codec", '"'), *options = part(header, "options", '{');
    part(header, "target", '{');
    if (codec && !is_text(codec, "conditional")) fail("this file needs another codec: %.12s", codec->text);
    for (const Json *item = options ? options->items : NULL; item; item = item->next->next) {
        if (!is_text(item, "period")) fail("the header holds an option that is not known");
        header->period = (int)integer(item->next, 0, MOST_PERIOD, "period");
    }
    if (header->n * (u64)(header->period + 2) > MOST_REMEMBERED)
        fail("a period of %d samples is too much", header->period);
}

Header read_header(Bytes body, int version)
{
    Header header = {.version = version, .n = 1};
    u64 length;
    char *text = version == 1 ? text_of_version_1(body, &length) : text_of_version_2(body, &header, &length);
    header.json = parse_json(text, length);
    free(text);
    header.schema = version == 1 ? part(&header, "schema", '{') : header.json;
    const Json *n = member(header.schema, "n");
    if (!n && version == 1) fail("the header has no n");
    if (n) header.n = (u64)integer(n, 1, MOST_SENSORS, "n");
    check_texts(&header, "name", 0);
    check_texts(&header, "unit", 0);
    check_texts(&header, "dtype", 1);
    check_time(&header);
    check_kind(&header);
    check_options(&header);
    return header;
}

/* Print a text as a field of CSV. */
static void print_text(const Json *json)
{
    putchar('"');
    for (u64 k = 0; k < json->length; k++) {
        if (json->text[k] == '"') putchar('"');
        putchar((u8)json->text[k]);
    }
    putchar('"');
}

void print_header(const Header *header)
{
    const Json *names = member(header->schema, "name"), *name = names && names->type == '[' ? names->items : NULL;
    if (header->is_timed) print_text(member(header->schema, "time")->items);
    for (u64 i = 0; i < header->n; i++) {
        if (i || header->is_timed) putchar(',');
        if (name) print_text(name);
        else if (names && names->type == '"') print_text(names);
        else printf("%" PRIu64, i);
        if (name) name = name->next;
    }
    putchar('\n');
}
