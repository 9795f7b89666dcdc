/* A longer linear memory: what the last steps of a sensor say of the error of its prediction. */
#include <math.h>
#include <string.h>

#include "group.h"

void forget_memory(Memory *memory)
{
    memset(memory, 0, sizeof *memory);
    for (int k = 0; k < 4; k++) memory->errors[k] = 1.0;
}

f64 remembered(Memory *memory)
{
    f64 extra = memory->weights[0] * memory->steps[0];
    for (int j = 1; j < ORDER; j++) extra += memory->weights[j] * memory->steps[j];
    if (!(fabs(extra) < 1e15)) extra = 0.0;
    memory->extra = extra;
    const f64 *errors = memory->errors;
    return errors[1] < 0.985 * errors[0] || errors[3] < 0.92 * errors[2] ? extra : 0.0;
}

static void solve_memory(Memory *memory)
{
    f64 a[ORDER][ORDER + 1];
    for (int k = 0; k < ORDER; k++) {
        for (int j = 0; j < ORDER; j++) a[k][j] = memory->sums[MAX(j, k)][MIN(j, k)];
        a[k][k] = a[k][k] * MEMORY_STRETCH + 1.0;
        a[k][ORDER] = memory->sums[ORDER][k];
    }
    solve(a[0], ORDER, memory->weights);
    for (int j = 0; j < ORDER; j++)
        if (!(fabs(memory->weights[j]) < 1e6)) {
            memset(memory->weights, 0, sizeof memory->weights);
            memset(memory->sums, 0, sizeof memory->sums);
            break;
        }
}

static void enter(f64 *mean, f64 error, f64 spread)
{
    f64 size = fabs(error) / spread;
    *mean += MEMORY_RATE * (MIN(size, 12.0) - *mean);
}

void remember(Memory *memory, int i, i64 t, f64 step, f64 error, f64 condition, f64 trust, f64 spread)
{
    f64 *steps = memory->steps;
    if (trust > 0.0) {
        for (int k = 0; k <= ORDER; k++) {
            f64 entry = (k < ORDER ? steps[k] : error) * trust;
            for (int j = 0; j < MIN(k + 1, ORDER); j++)
                memory->sums[k][j] = memory->sums[k][j] * MEMORY_KEEP + entry * steps[j];
        }
        f64 rest = error - condition;
        enter(&memory->errors[0], rest, spread);
        enter(&memory->errors[1], rest - memory->extra, spread);
        enter(&memory->errors[2], error, spread);
        enter(&memory->errors[3], error - memory->extra, spread);
        if ((t + i) % MEMORY_EVERY == 0 && t >= 32) solve_memory(memory);
    }
    memmove(steps + 1, steps, sizeof(f64) * (ORDER - 1));
    steps[0] = step;
}
