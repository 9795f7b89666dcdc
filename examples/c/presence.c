/* Which readings of a sample are missing. */
#include "group.h"

void code_presence(Coder *coder, Absence *absences, Bit *bits, int n, int *gone)
{
    int went = 0, came = 0;
    for (int i = 0; i < n; i++) {
        Absence *own = &absences[i];
        int before = own->missing, ago = own->age;
        int recency = ago <= 1 ? 0 : ago <= 3 ? 1 : ago <= 12 ? 2 : ago <= 48 ? 3 : ago <= 200 ? 4 : 5;
        int alike = before ? came : went, other = before ? went : came, often = own->restless >> 13;
        int context = (((before * 6 + recency) * 4 + MIN(alike, 3)) * 2 + MIN(other, 1)) * 3 + MIN(often, 2);
        int change = code_bit(coder, &bits[context], 250);
        own->restless -= own->restless >> 5;
        if (change) {
            if (before) came++;
            else went++;
            own->restless += 8192;
            own->age = 1;
            own->missing = 1 - before;
        } else if (ago < 1000) {
            own->age = ago + 1;
        }
        gone[i] = own->missing;
    }
}
