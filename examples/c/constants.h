/* The constants of the format, by the names that they have in src/orthostream/compression. */
#ifndef CONSTANTS_H
#define CONSTANTS_H

/* Limits. */
enum { LONGEST_FRAME = 1 << 24, MOST_COLUMNS = 65536, MOST_SENSORS = 8192, MOST_PERIOD = 4096, LARGEST_GROUP = 160 };
enum { MOST_REMEMBERED = 1 << 22, LONGEST_TEXT = 1 << 20, LONGEST_INTEGER = 20 };
enum { MOST_BRACKETS = 64, MOST_COLONS = 256, MOST_COMMAS = 4 * MOST_SENSORS + 256, MOST_QUOTES = 10 * MOST_SENSORS + 4096 };
enum { MOST_LEVELS = 1 << 16, MOST_LEVELS_OF_ALL = 1 << 22, LEVELS_PER_BYTE = 64, MOST_DECIMALS = 15 };
enum { LARGEST_FRACTION = 1 << 20, LARGEST_DENOMINATOR = 64, MOST_MULTIPLES = 1 << 18, WIDEST = 126 };
enum { LOWEST_EXPONENT = -1022, HIGHEST_EXPONENT = 973, MOST_PRECISION = 53 };
#define LIMIT ((i64)1 << 50)
#define DRIFT 2251799813685248.0 /* 2^51 */
#define LARGEST_WHOLE ((u64)1 << 53)

/* Work: in version 1 per byte, in version 2 per frame. */
enum { WORK_PER_BYTE = 64, WORK_PER_SAMPLE = 12, WORK_PER_START = 8 };
enum { FREE_WORK = 1 << 17, WORK_PER_GROUP = 512, WORK_OF_SMALL = 16, WORK_OF_LARGE = 3 };

/* range_coder, presence, raw_reading. */
enum { TOTAL = 65536, RAREST = 24, EVEN_PROBABILITY = 1 << 21, RARE_PROBABILITY = 83886, INTEGER_BITS = 39, KEPT_FREE = 256 };
enum { CONTEXTS = 288, TOP = 16, ENDING = 29 };

/* group_state, learning. */
enum { N_FEATURES = 8, LEVELS = 10, STIRS = 8 };

/* student, account. */
enum { FOUR, TEN };
#define WIDEST_SCALE 68719476736.0 /* 2^36 */
#define SCALE_FOUR 0.7071067811865476
#define SCALE_TEN 0.8944271909999159
#define LEAD 8.0
#define SHAPE_LEAD 4.0
#define KEEP 0.998
#define LEAST 1.6e-5
#define FAR_OUT_FOUR 1.6e-4
#define FAR_OUT_TEN 1.5e-6
#define SURPRISED 0.08
#define CENTRED 1.5

/* adaptation, jumps, and the first samples of `learning`. */
#define NARROW 1024.0
#define JUMP_FAR 12.0
#define JUMP_KEEP 0.99
enum { JUMP_KNOWN = 100, START = 16 };
#define VERY_FAR 400.0

/* memory. */
enum { ORDER = 16, LARGEST_SMALL_GROUP = 24, MEMORY_EVERY = 16 };
#define MEMORY_KEEP 0.999
#define MEMORY_RATE 0.003
#define MEMORY_STRETCH 1.000001

/* logistic, mixture, repeats, halving. */
enum { LARGEST_LOGIT = 3072, N_SOURCES = 13, N_SETS = 64, HALVINGS = 48, N_REFINED = 25, N_SHARED = 7168 };
enum { N_SLOTS = 1 << 16, RING = 8192, RINGS = 1 << 17, LEAST_RING = 256, N_MATCHES = 1 << 14 };
enum { FIRST_WEIGHT = 52000, OTHER_WEIGHTS = 5000, MOST_WEIGHT = 1 << 20, PACE = 8, QUICK_PACE = 60, MOST_SEEN = 250 };
enum { SHORTEST = 5, COMPARED = 32, DEEPEST = 12, NONE = 3 };

#endif
