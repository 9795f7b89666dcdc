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

#include "ost.h"

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

/* Take the next frame with its length off a file; 0 if the file ends before it does. */
static int next_frame(Bytes *file, Bytes *data)
{
    Bytes rest = *file;
    while (rest.at < rest.end && *rest.at >= 0x80 && rest.at - file->at < 10) rest.at++;
    if (rest.at == rest.end) return 0;
    rest = *file;
    u64 size = varint(&rest, LONGEST_FRAME);
    if (size > (u64)(rest.end - rest.at)) return 0;
    data->at = take(&rest, size);
    data->end = rest.at;
    *file = rest;
    return 1;
}

/* Check what follows the index; 0 if it is not all there. */
static int is_whole(Bytes file, u64 index, u64 n_samples)
{
    const u8 *start = file.at;
    Bytes data;
    Frame frame;
    if (!next_frame(&file, &data)) return 0;
    open_frame(&frame, data, NULL);
    if (frame.kind != END) fail("the end of the file is damaged");
    u8 mark[] = {(u8)(file.at - start), 'E', 'N', 'D'};
    u64 left = (u64)(file.end - file.at);
    if (left > 4 || memcmp(file.at, mark, left)) fail("bytes follow the end of the file");
    if (varint(&frame.body, INT64_MAX) != index || varint(&frame.body, INT64_MAX) != n_samples)
        fail("the end of the file does not fit what is before it");
    return left == 4;
}

/* Decode a frame of readings and print it; return how many samples there were. */
static u64 print_frame(const Header *header, Codec *codec, Times *times, Frame *frame)
{
    u64 count;
    Bytes section = {NULL, NULL};
    if (frame->flags & TIMED) {
        if (!header->timed) fail("a frame has times where there are none");
        u64 length = varint(&frame->body, LONGEST_FRAME);
        section.at = take(&frame->body, length);
        section.end = frame->body.at;
    }
    f64 *rows = decode(codec, frame->body, &count);
    i64 *stamps = NULL;
    if (header->timed) {
        stamps = zeros(count, sizeof *stamps);
        decode_times(times, frame->flags & TIMED ? &section : NULL, stamps, count);
    }
    print_rows(rows, stamps, count, header->n);
    free(rows);
    free(stamps);
    return count;
}

/* Print the samples of a file; 0 if it was cut short. */
static int print_file(Bytes file)
{
    const u8 *begin = file.at;
    Bytes data;
    Frame frame;
    if (file.end - file.at < 4 || memcmp(take(&file, 4), "OST\1", 4)) fail("this is no .ost file of version 1");
    if (!next_frame(&file, &data)) fail("the header is cut short");
    open_frame(&frame, data, NULL);
    if (frame.kind != HEADER) fail("the header is damaged");
    Header header = read_header(frame.body);
    print_header(&header);

    Codec codec = {0};
    Times times;
    u64 n_samples = 0;
    Chain chain = {0};
    int has_state = 0;
    codec.n = header.n;
    codec.period = header.period;
    codec.lattices = zeros(header.n, sizeof *codec.lattices);
    for (u64 offset = (u64)(file.at - begin); next_frame(&file, &data); offset = (u64)(file.at - begin)) {
        open_frame(&frame, data, has_state ? &chain : NULL);
        if (frame.kind == INDEX) return is_whole(file, offset, n_samples);
        if (frame.kind != READINGS) fail("a frame of kind %d does not belong here", frame.kind);
        if (frame.flags & RESTART) {
            restart_codec(&codec);
            restart_times(&times);
            chain = (Chain){0};
        }
        n_samples += print_frame(&header, &codec, &times, &frame);
        chain = chain_after(chain, data, digest_of(&codec));
        has_state = 1;
    }
    return 0;
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
    if (print_file((Bytes){data, data + size})) return 0;
    fputs("ost_decode: the file was cut short; its whole frames were printed\n", stderr);
    return 2;
}
