/* What the parts of the decoder share; docs/format.md says what each of them means. */
#ifndef OST_H
#define OST_H

#include <inttypes.h>
#include <stddef.h>

typedef uint8_t u8;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int32_t i32;
typedef int64_t i64;
typedef double f64;
__extension__ typedef __int128 i128;

#include "constants.h"

#define MIN(a, b) ((b) < (a) ? (b) : (a))
#define MAX(a, b) ((b) > (a) ? (b) : (a))

/* bytes.c: bytes that are read from the front; whatever is wrong ends the program with status 1. */

typedef struct { const u8 *at, *end; } Bytes;

void fail(const char *format, ...);
void *zeros(u64 count, size_t size);
u64 size_of_bytes(Bytes bytes);
const u8 *take(Bytes *bytes, u64 count);
u64 varint(Bytes *bytes, u64 largest);
u64 eight_bytes(Bytes *bytes);
f64 number(Bytes *bytes);
f64 single_number(Bytes *bytes);
i64 unfold(u64 v);

/* json.c: RFC 8259, and Infinity. Items of an object are its keys and values in turn. */

typedef struct Json Json;
struct Json {
    int type; /* '{', '[', '"', 'i' (an integer), 'f' (another number), 't', 'n' (null, true or false) */
    char *text;
    u64 length;
    Json *items, *next;
};

Json *parse_json(const char *text, u64 length);
void free_json(Json *json);
/* The value of a key, NULL if there is none. */
const Json *member(const Json *object, const char *key);
int is_text(const Json *json, const char *text);

/* header.c */

typedef struct {
    int version, period, is_timed, is_unchecked;
    u64 n;
    u32 bind;
    Json *json;
    const Json *schema;
} Header;

Header read_header(Bytes body, int version);
void print_header(const Header *header);

/* frame.c */

enum { READINGS, DICTIONARY, UPDATE, HEADER, INDEX, END };
enum { RESTART = 8, TIMED = 16 };

typedef struct { int kind, flags; Bytes body; u8 tiny[8]; } Frame;
typedef struct { u32 seed, anchor; u64 number; } Chain;
/* How frames of a stream are checked; `start` is the seed before the first one. */
typedef struct { int version, is_unchecked; u32 start; } Checks;

/* For a decoder that remembers a chain, or nothing (NULL). */
void open_frame(Frame *frame, Bytes data, const Checks *checks, const Chain *chain);
/* Take the next frame with its length off a file; 0 if the file ends before it does. */
int next_frame(Bytes *file, Bytes *data);
Chain chain_after(Chain chain, const Checks *checks, const Frame *frame, Bytes data, u32 digest);

/* ending.c: what a file says at its end must fit what was read. */

typedef struct { u64 offset, sample; i64 time; } Key;
typedef struct { u64 n_samples, n_missing, n_keys, room; Key *keys; } Contents;

void add_key(Contents *contents, Key key);
/* `offset` is where `index`, the first frame of the end, begins with its length; 0 if the end is cut short. */
int check_end(Bytes file, Frame *index, const Checks *checks, const Header *header, const Contents *contents,
              u64 offset, u64 first);

/* range_coder.c */

typedef struct { Bytes bytes; u64 code, width; } Coder;
typedef struct { u32 probability, seen; } Bit;

Coder start_coder(Bytes bytes);
u64 point(const Coder *coder);
void narrow(Coder *coder, u64 start, u64 size);
u64 code_bits(Coder *coder, int n_bits);
int code_bit(Coder *coder, Bit *b, u32 limit);
void move_bit(Bit *b, int bit, u32 limit);
u64 code_integer(Coder *coder, Bit *bits);
void make_even(Bit *bits, int count);

/* lattice.c: what the integers of a sensor stand for. */

enum { LINEAR, GEOMETRIC, OF_LEVELS, FLOATS };

typedef struct {
    int kind, single, exponent, precision;
    i64 width;
    f64 numerator, denominator, offset, ratio, *levels;
    u64 n_levels;
} Lattice;

f64 value_of(const Lattice *lattice, i64 c, u64 rest);
int rest_bits(int precision, i64 c);
/* How many levels may still be read from a payload, and from all payloads. */
typedef struct { u64 of_payload, of_all; } LevelBudget;
LevelBudget level_budget(Bytes payload);
void read_plain_lattices(Bytes *bytes, Lattice *lattices, u64 n);
void read_lattices(Bytes *bytes, Lattice *lattices, u64 n);
Lattice read_lattice(Bytes *bytes, LevelBudget *budget);
Lattice copy_of(const Lattice *lattice);
int same_lattice(const Lattice *one, const Lattice *other);

/* levels.c */

Lattice read_levels(Bytes *bytes, LevelBudget *budget);
/* Sort numbers, and leave equal ones out; return how many are left. */
u64 sort_numbers(f64 *numbers, u64 count);
/* The levels of a lattice with some more, which are in order; there is room for them. */
Lattice merged(const Lattice *lattice, const f64 *more, u64 count);
/* The rank that a number has, or would have. */
u64 rank_of(const Lattice *lattice, f64 number);
int is_level(const Lattice *lattice, f64 number);
int can_be_level(f64 number);

/* group.h: sensors that are predicted from each other. */

typedef struct Group Group;

/* codec.c: all groups of a stream. */

typedef struct {
    u64 n, count;
    int version, period, n_groups;
    Lattice *lattices;
    Group **groups;
    u32 changed, *group_of, *place_of;
    Bit other, count_bits[INTEGER_BITS];
} Codec;

void restart_codec(Codec *codec);
/* Return the readings of a payload, `*count` samples of them, to be freed. */
f64 *decode(Codec *codec, Bytes payload, u64 *count);
u32 digest_of(const Codec *codec);

/* changes.c: lattices that change between restarts; of version 2. */

void update(Codec *codec, Bytes payload);
/* Make levels of readings that sensors of levels have sent as they are. */
void grow_levels(Codec *codec, const f64 *rows, const u8 *raw, u64 count);

/* times.c: times of version 1. */

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
