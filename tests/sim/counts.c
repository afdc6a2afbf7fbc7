/* SPDX-License-Identifier: Apache-2.0 */
/* What a batch must have met: a run in which nothing happened proves nothing. */
#include "sim/sim.h"

/* The least number in 10,000 seeds. */
static const struct {
    const char *name;
    uint64_t least;
} counts[] = {
    [SIM_COUNT_STEPS] = {"steps", 1000000},
    [SIM_COUNT_WRITES] = {"writes", 100000},
    [SIM_COUNT_VERSIONS] = {"store versions", 100000},
    [SIM_COUNT_ADDS] = {"adds", 50000},
    [SIM_COUNT_UPDATES] = {"updates", 40000},
    [SIM_COUNT_DELETES] = {"deletes", 30000},
    [SIM_COUNT_UNSEEN_DELETES] = {"deletes not seen", 4000},
    [SIM_COUNT_SYNCS] = {"resyncs", 10000},
    [SIM_COUNT_INITIAL_ADDS] = {"initial adds", 10000},
    [SIM_COUNT_STREAMS] = {"streaming lists", 10000},
    [SIM_COUNT_LISTS] = {"lists", 10000},
    [SIM_COUNT_PAGES] = {"pages after the first", 10000},
    [SIM_COUNT_WATCHES] = {"watches", 20000},
    [SIM_COUNT_RELISTS] = {"relists", 10000},
    [SIM_COUNT_RECONNECTS] = {"watches taken up", 10000},
    [SIM_COUNT_FALLBACKS] = {"fallbacks", 1000},
    [SIM_COUNT_BACKOFFS] = {"back-offs", 10000},
    [SIM_COUNT_BOOKMARKS] = {"bookmarks", 10000},
    [SIM_COUNT_EXPIRED] = {"410s", 1000},
    [SIM_COUNT_TOO_LARGE] = {"versions too large", 200},
    [SIM_COUNT_BUSY] = {"429s", 1000},
    [SIM_COUNT_INTERNAL] = {"500s", 1000},
    [SIM_COUNT_REFUSED] = {"refused connections", 1000},
    [SIM_COUNT_RESETS] = {"resets", 1000},
    [SIM_COUNT_CUTS] = {"cuts", 1000},
    [SIM_COUNT_STALLS] = {"silent streams", 1000},
    [SIM_COUNT_NO_MEMORY] = {"failed allocations", 1000},
    [SIM_COUNT_SET_ASIDE] = {"objects set aside", 1000},
    [SIM_COUNT_ANOMALIES] = {"anomalies", 100},
    [SIM_COUNT_EPOCHS] = {"epoch changes", 10},
    [SIM_COUNT_HANDLERS] = {"handlers", 5000},
    [SIM_COUNT_LATE_HANDLERS] = {"late handlers", 5000},
    [SIM_COUNT_REMOVED] = {"handlers removed", 1000},
    [SIM_COUNT_REMOVED_INSIDE] = {"handlers that removed themselves", 500},
    [SIM_COUNT_ADDED_INSIDE] = {"handlers added in a callback", 500},
    [SIM_COUNT_STOPPED_INSIDE] = {"stops in a callback", 100},
    [SIM_COUNT_MERGED] = {"merged events", 1000},
    [SIM_COUNT_FAILED_CALLBACKS] = {"callbacks that failed", 1000},
    [SIM_COUNT_RESTARTED_CLIENTS] = {"clients that began anew", 1000},
    [SIM_COUNT_PROTOBUF] = {"answers in protobuf", 20000},
    [SIM_COUNT_CONVERGED] = {"histories that ended well", 5000},
    [SIM_COUNT_SIM_SECONDS] = {"simulated seconds", 1000000},
};
_Static_assert(sizeof(counts) / sizeof(counts[0]) == SIM_COUNT_MAX, "a row for each");

const char *sim_count_name(sim_count count)
{
    return counts[count].name;
}

uint64_t sim_count_least(sim_count count, uint64_t seeds)
{
    return counts[count].least * seeds / 10000;
}
