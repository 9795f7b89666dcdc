/* What the parts of the decoder share; docs/format.md says what each of them means. */
#ifndef OST_H
#define OST_H

#include <inttypes.h>
#include <stddef.h>

typedef uint8_t u8;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int64_t i64;
typedef double f64;

enum { LONGEST_FRAME = 1 << 24, MOST_SENSORS = 8192, MOST_PERIOD = 4096, LARGEST_GROUP = 160 };
enum { MOST_REMEMBERED = 1 << 22, WORK_PER_BYTE = 64, WORK_PER_SAMPLE = 12, WORK_PER_START = 8 };
#define MIN(a, b) ((b) < (a) ? (b) : (a))
#define MAX(a, b) ((b) > (a) ? (b) : (a))

/* bytes.c: bytes that are read from the front; whatever is wrong ends the program with status 1. */

typedef struct { const u8 *at, *end; } Bytes;

void fail(const char *format, ...);
void *zeros(u64 count, size_t size);
const u8 *take(Bytes *bytes, u64 count);
u64 varint(Bytes *bytes, u64 largest);
u64 eight_bytes(Bytes *bytes);
f64 number(Bytes *bytes);
i64 unfold(u64 v);

/* frame.c */

enum { READINGS, DICTIONARY, UPDATE, HEADER, INDEX, END };
enum { RESTART = 8, TIMED = 16 };

typedef struct { int kind, flags; Bytes body; u8 tiny[8]; } Frame;

typedef struct { u32 seed, anchor; u64 number; } Chain;

/* For a decoder that remembers a chain, or nothing (NULL). */
void open_frame(Frame *frame, Bytes data, const Chain *chain);
Chain chain_after(Chain chain, Bytes data, u32 digest);

/* header.c: names stay in the text of the header until they are printed. */

typedef struct { u64 n; int period, timed; const char *schema; } Header;

Header read_header(Bytes packed);
void print_header(const Header *header);

/* range_coder.c */

enum { INTEGER_BITS = 39 };

typedef struct { Bytes bytes; u64 code, width; } Coder;
typedef struct { u32 chance, seen; } Bit;

Coder start_coder(Bytes bytes);
u64 point(const Coder *coder);
void narrow(Coder *coder, u64 start, u64 size);
u64 code_bits(Coder *coder, int n_bits);
int code_bit(Coder *coder, Bit *b, u32 limit);
u64 code_integer(Coder *coder, Bit *bits);
void make_even(Bit *bits, int count);

/* group.c: the lattices of sensors, and sensors that are predicted from each other. */

typedef struct { i64 width; f64 numerator, denominator, offset, ratio; int single; } Lattice;
typedef struct Group Group;

f64 value_of(const Lattice *lattice, i64 c);
Group *open_group(const int *sensors, int n, const Lattice *lattices, int period);
void close_group(Group *g);
u32 hash_of(const Group *g);
/* Decode one sample into `out`, which has a place for every sensor of the stream. */
void code_sample(Coder *coder, Group *g, const Lattice *lattices, f64 *out);

/* codec.c: all groups of a stream. */

typedef struct {
    u64 n, count;
    int period, n_groups;
    Lattice *lattices;
    Group **groups;
    Bit other, count_bits[INTEGER_BITS];
} Codec;

void restart_codec(Codec *codec);
/* Return the readings of a payload, `*count` samples of them, to be freed. */
f64 *decode(Codec *codec, Bytes payload, u64 *count);
u32 digest_of(const Codec *codec);

/* times.c */

__extension__ typedef __int128 i128;

typedef struct { int known; i128 last, step, quantum; Bit bits[INTEGER_BITS]; } Times;

void restart_times(Times *times);
/* `section` is NULL in a frame that tells none. */
void decode_times(Times *times, Bytes *section, i64 *out, u64 count);

/* adaptive_times.c: times of version 2. */

enum { CANDIDATES = 4, QUESTIONS = 69, SIGNED_BITS = 749 };

typedef struct {
    int known;                                       /* 0: nothing, 1: a time, more: also a step */
    i64 last;
    i128 step, nominal, candidates[CANDIDATES];
    int missed, n_candidates, answers, ranks;
    i64 run, run_before;
    i128 quantum, odd_quantum, window_quantum;
    int odd, unforeseen;
    i64 accounts[4];
    Bit questions[QUESTIONS], residuals[3][SIGNED_BITS];
    i128 at, period, grid_spread, mean, mean_spread; /* times 2^32 */
    int grid_seen, outliers, mean_seen;
} AdaptiveTimes;

void restart_adaptive_times(AdaptiveTimes *times);
void decode_adaptive_times(AdaptiveTimes *times, Bytes *section, i64 *out, u64 count);

#endif
