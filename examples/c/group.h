/* What both sides know of a group of sensors after each sample. */
#ifndef GROUP_H
#define GROUP_H

#include "ost.h"

/* student.c: the bell curve. */

f64 below(f64 x, int shape);
f64 density(f64 x, int shape);
f64 scale_of(int shape);
i64 code_cell(Coder *coder, Bit *escapes, f64 centre, f64 scale, int shape);

/* logistic.c: without a coder (NULL) a bit is known already, and only learnt from. */

void make_tables(void);
i32 squash(i32 logit);
i32 logit_of_probability(u32 probability);
i32 logit_of(f64 share);
f64 log2_of(f64 x);
int code_known(Coder *coder, u32 ones, int bit);

/* mixture.c: the second way of coding a cell. */

typedef struct { Bit bit; u32 check; } Slot;
/* What else is known of a cell: see `mixture.py`. */
typedef struct { i64 neighbour, ago; u64 phase; i64 asked, repeated; int stir, level, shape; } Around;

typedef struct {
    i64 *ring, written, match, length, mode, votes, age;
    u32 trail, long_trail, repeats;
    f64 account;
    int mixes;
} Past;

typedef struct {
    i64 weights[N_SETS][N_SOURCES];
    i32 trained[N_SETS];
    i64 refined[N_SETS][N_REFINED];
    Slot *slots;
    Bit shared[N_SHARED], escapes[INTEGER_BITS + 1];
    i64 *found, *long_found, ring_size;
    Past *pasts;
    f64 surprise;
    /* Work space. */
    i32 first_input;
    Bit *sources[N_SOURCES];
    i64 candidates[3];
    f64 masses[3], cost;
    Around around;
} Mixture;

Mixture *open_mixture(int n);
void close_mixture(Mixture *m, int n);
u32 mixed_hash(i64 value, u32 before);
Bit *slot_of(Mixture *m, u32 key);
int mixed_bit(Coder *coder, Mixture *m, int which, int n_sources, int bit);

/* repeats.c, questions.c, halving.c */

i64 last_cell(const Mixture *m, int i, int ago);
int take_cell(Mixture *m, int i, i64 cell);
int bits_of_count(u64 count);
int ask_candidates(Coder *coder, Mixture *m, int i, f64 centre, f64 scale, i64 cell);
i64 code_mixed(Coder *coder, Mixture *m, int i, f64 centre, f64 scale, i64 cell);

/* memory.c: the longer memory of a sensor of a small group. */

typedef struct { f64 steps[ORDER], sums[ORDER + 1][ORDER + 1], weights[ORDER], extra, errors[4]; } Memory;

void forget_memory(Memory *memory);
f64 remembered(Memory *memory);
void remember(Memory *memory, int i, i64 t, f64 step, f64 error, f64 condition, f64 trust, f64 spread);

/* account.c */

int rehearses(f64 surprise, i64 t, int n);
f64 probability_alone(f64 expected, f64 scale, f64 w, i64 cell, int shape);
void compare(Mixture *m, int i, int n, f64 alone, int is_centred);
f64 shape_account(f64 account, f64 upper, f64 lower, f64 deviation);
int chosen_shape(int shape, f64 account);

/* presence.c: which readings are missing; per sensor, and adaptive bits. */

typedef struct { int missing, age, restless; } Absence;

void code_presence(Coder *coder, Absence *absences, Bit *bits, int n, int *gone);

/* group.c: the state, of which `mixture` and `memories` are NULL where there are none. */

typedef struct { f64 scale, trust, error, basis, condition, spread, correction, jump, unlimited; } Fact;

struct Group {
    int n, ring, version, shape;
    u64 samples;
    u32 hash;
    u32 *sensors;
    int *seen, *gone;
    Absence *absences;
    f64 *w, *history, *mean, *variance, *spread, *ratio, *stir, *jump, *pivots, *covariance, *upper;
    f64 *features, *deviation, *predicted, *quotient;
    f64 level_factors[LEVELS], stir_factors[STIRS], sums[N_FEATURES + 1][N_FEATURES + 1], weights[N_FEATURES];
    f64 shape_account, jump_account;
    Bit raw[2], first_bits[INTEGER_BITS], same_top, zero_end, escapes[INTEGER_BITS], presence[CONTEXTS];
    u64 *last_raw;
    Fact *facts;
    Mixture *mixture;
    Memory *memories;
};

Group *open_group(const u32 *sensors, int n, const Lattice *lattices, int period, int version);
void close_group(Group *g);
f64 *row_of(Group *g, i64 t);
void forget_matrices(Group *g);
void forget_sensor(Group *g, int i);

/* jumps.c: steps that nothing foretold. */

f64 jump_of(const Group *g, int i, f64 error, f64 s);
int leaves_out_jumps(const Group *g);
void judge_jumps(Group *g);

/* learning.c: the prediction in time, and what is learnt from a sample. `a` has n rows and n + 1 columns. */

void predict(Group *g);
void learn(Group *g);
void solve(f64 *a, int n, f64 *solution);

/* adaptation.c: what a reading teaches at once. */

f64 score_of(f64 upper, f64 lower, int shape);
f64 score_of_narrow(f64 x, int shape);
void adapt_scale(Group *g, int i, f64 score, int level_bin, int stir_bin);
void follow(Group *g, int i, f64 known);

/* raw_reading.c */

i64 code_first(Coder *coder, Group *g, i64 reference);
u64 code_exact(Coder *coder, Group *g, int i);

/* readings.c: decode one sample; `out` and `raw` have a place for every sensor of the stream. */
void code_sample(Coder *coder, Group *g, const Lattice *lattices, f64 *out, u8 *raw);

/* remap.c: give sensor i of a group another lattice; it may be the one that it has. */
void remap(Group *g, int i, const Lattice *old, const Lattice *new);

#endif
