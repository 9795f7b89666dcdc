/* Reads an .ost file of the `conditional` codec and prints it as CSV, as docs/format.md specifies it.
 *
 *     cc -O2 -ffp-contract=off -o ost_decode *.c -lz -lm
 *     ./ost_decode readings.ost > readings.csv
 *
 * Times are printed as the integers that they are, missing readings as nothing, others with as many digits as tell
 * them from all others. Status: 0, 1 for a damaged file, 2 for one that was cut short (its whole frames are printed).
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "group.h"

static void print_rows(const f64 *rows, const i64 *times, u64 count, u64 n)
{
    for (u64 t = 0; t < count; t++) {
        if (times) printf("%" PRId64, times[t]);
        for (u64 i = 0; i < n; i++) {
            f64 reading = rows[t * n + i];
            if (i || times) putchar(',');
            if (!isnan(reading)) printf("%.17g", reading);
        }
        putchar('\n');
    }
}

/* What frames change. */
typedef struct {
    Codec codec;
    Times times;
    AdaptiveTimes adaptive_times;
    Chain chain;
    int is_known;
} State;

static void restart(State *state, const Header *header, const Checks *checks)
{
    state->codec.n = header->n;
    state->codec.period = header->period;
    state->codec.version = header->version;
    restart_codec(&state->codec);
    restart_times(&state->times);
    restart_adaptive_times(&state->adaptive_times);
    state->chain = (Chain){checks->start, 0, 0};
}

static i64 *times_of(State *state, const Header *header, Bytes *section, u64 count)
{
    i64 *stamps = zeros(count, sizeof *stamps);
    if (header->version == 1) decode_times(&state->times, section, stamps, count);
    else decode_adaptive_times(&state->adaptive_times, section, stamps, count);
    return stamps;
}

static u64 missing(const f64 *rows, u64 count)
{
    u64 found = 0;
    for (u64 k = 0; k < count; k++) found += isnan(rows[k]) ? 1 : 0;
    return found;
}

/* Decode a frame of readings, which begins at an offset, and print it. */
static void print_frame(const Header *header, State *state, Frame *frame, u64 offset, Contents *contents)
{
    u64 count;
    Bytes body = frame->body, section = {NULL, NULL};
    int is_timed = !!(frame->flags & TIMED), is_key = !!(frame->flags & RESTART);
    if (header->version > 1 && is_key && varint(&body, INT64_MAX) != contents->n_samples)
        fail("a frame begins with another sample than is due");
    if (is_timed) {
        if (!header->is_timed || frame->kind != READINGS) fail("a frame has times where there are none");
        u64 length = varint(&body, size_of_bytes(frame->body));
        section.at = take(&body, length);
        section.end = body.at;
    }
    if (frame->kind == UPDATE && header->version > 1) {
        update(&state->codec, body);
        return;
    }
    if (frame->kind != READINGS) fail("a frame of kind %d does not belong here", frame->kind);
    f64 *rows = decode(&state->codec, body, &count);
    i64 *stamps = header->is_timed ? times_of(state, header, is_timed ? &section : NULL, count) : NULL;
    print_rows(rows, stamps, count, header->n);
    if (is_key) add_key(contents, (Key){offset, contents->n_samples, stamps ? stamps[0] : 0});
    contents->n_samples += count;
    contents->n_missing += missing(rows, count * header->n);
    free(rows);
    free(stamps);
}

/* Print the samples of a file from its first frame on; 0 if it was cut short. */
static int print_frames(Bytes file, const u8 *begin, const Header *header, State *state, Contents *contents)
{
    Checks checks = {header->version, header->is_unchecked, header->bind};
    u64 first = (u64)(file.at - begin);
    Bytes data;
    Frame frame;
    for (u64 offset = first; next_frame(&file, &data); offset = (u64)(file.at - begin)) {
        open_frame(&frame, data, &checks, state->is_known ? &state->chain : NULL);
        if (frame.kind == INDEX) return check_end(file, &frame, &checks, header, contents, offset, first);
        if (frame.flags & RESTART) restart(state, header, &checks);
        print_frame(header, state, &frame, offset, contents);
        state->chain = chain_after(state->chain, &checks, &frame, data, digest_of(&state->codec));
        state->is_known = 1;
    }
    return 0;
}

static int print_file(Bytes file)
{
    static const Checks of_header = {2, 0, 0};
    const u8 *begin = file.at;
    Bytes data;
    Frame frame;
    if (size_of_bytes(file) < 4 || memcmp(take(&file, 3), "OST", 3)) fail("this is no .ost file");
    int version = *take(&file, 1);
    if (version != 1 && version != 2) fail("this file is of version %d of the format; 1 and 2 are known", version);
    if (!next_frame(&file, &data)) fail("the header is cut short");
    open_frame(&frame, data, &of_header, NULL);
    if (frame.kind != HEADER) fail("the header is damaged");
    Header header = read_header(frame.body, version);
    print_header(&header);

    State *state = zeros(1, sizeof *state);
    Contents contents = {0};
    int is_whole = print_frames(file, begin, &header, state, &contents);
    restart_codec(&state->codec);
    free(state);
    free(contents.keys);
    free_json(header.json);
    return is_whole;
}

int main(int argc, char **argv)
{
    if (argc != 2) fail("usage: ost_decode FILE.ost > FILE.csv");
    FILE *file = fopen(argv[1], "rb");
    if (!file) fail("cannot open %s", argv[1]);
    u64 room = 1 << 16, size = 0;
    u8 *data = zeros(room, 1);
    for (size_t got; (got = fread(data + size, 1, room - size, file)) > 0;) {
        size += got;
        if (size == room && !(data = realloc(data, room *= 2))) fail("there is not enough memory");
    }
    fclose(file);
    make_tables();
    int is_whole = print_file((Bytes){data, data + size});
    free(data);
    if (is_whole) return 0;
    fputs("ost_decode: the file was cut short; its whole frames were printed\n", stderr);
    return 2;
}
