/* SPDX-License-Identifier: Apache-2.0 */
/* What a batch must have met: a run in which nothing happened proves nothing. */
#include "sim/sim.h"

/* The least number in 10,000 seeds. */
static const struct {
    const char *name;
    uint64_t least;
} counts[] = {
    [SIM_COUNT_STEPS] = {"steps", 1600000},
    [SIM_COUNT_WRITES] = {"writes", 64000},
    [SIM_COUNT_VERSIONS] = {"store versions", 100000},
    [SIM_COUNT_ADDS] = {"adds", 57000},
    [SIM_COUNT_UPDATES] = {"updates", 17000},
    [SIM_COUNT_DELETES] = {"deletes", 12000},
    [SIM_COUNT_UNSEEN_DELETES] = {"deletes not seen", 2700},
    [SIM_COUNT_SYNCS] = {"resyncs", 390000},
    [SIM_COUNT_INITIAL_ADDS] = {"initial adds", 39000},
    [SIM_COUNT_STREAMS] = {"streaming lists", 12000},
    [SIM_COUNT_LISTS] = {"lists", 14000},
    [SIM_COUNT_PAGES] = {"pages after the first", 4000},
    [SIM_COUNT_WATCHES] = {"watches", 24000},
    [SIM_COUNT_RELISTS] = {"relists", 5200},
    [SIM_COUNT_RECONNECTS] = {"watches resumed", 17000},
    [SIM_COUNT_FALLBACKS] = {"fallbacks", 3200},
    [SIM_COUNT_BACKOFFS] = {"backoffs", 21000},
    [SIM_COUNT_BOOKMARKS] = {"bookmarks", 110000},
    [SIM_COUNT_EXPIRED] = {"410s", 2600},
    [SIM_COUNT_TOO_LARGE] = {"versions too large", 850},
    [SIM_COUNT_BUSY] = {"429s", 3400},
    [SIM_COUNT_INTERNAL] = {"500s", 2600},
    [SIM_COUNT_REFUSED] = {"refused connections", 7000},
    [SIM_COUNT_RESETS] = {"resets", 6700},
    [SIM_COUNT_CUTS] = {"cuts", 5700},
    [SIM_COUNT_STALLS] = {"silent streams", 2000},
    [SIM_COUNT_NO_MEMORY] = {"failed allocations", 1800},
    [SIM_COUNT_SKIPPED] = {"objects skipped", 3300},
    [SIM_COUNT_ANOMALIES] = {"anomalies", 630},
    [SIM_COUNT_EPOCHS] = {"epoch changes", 88},
    [SIM_COUNT_REFUSALS] = {"refusals because of max_bytes", 1000},
    [SIM_COUNT_RECOVERIES] = {"recoveries from them", 100},
    [SIM_COUNT_REDUCED] = {"reductions to metadata", 100},
    [SIM_COUNT_RESTORED] = {"objects whole again", 15},
    [SIM_COUNT_PACKED] = {"stores packed at their limit", 45},
    [SIM_COUNT_HANDLERS] = {"handlers", 10000},
    [SIM_COUNT_LATE_HANDLERS] = {"late handlers", 13000},
    [SIM_COUNT_REMOVED] = {"handlers removed", 4100},
    [SIM_COUNT_REMOVED_INSIDE] = {"handlers that removed themselves", 680},
    [SIM_COUNT_ADDED_INSIDE] = {"handlers added in a callback", 700},
    [SIM_COUNT_STOPPED_INSIDE] = {"stops in a callback", 170},
    [SIM_COUNT_MERGED] = {"merged events", 35000},
    [SIM_COUNT_RESTARTED_CLIENTS] = {"clients restarted", 2300},
    [SIM_COUNT_PROTOBUF] = {"answers in protobuf", 13000},
    [SIM_COUNT_WORKED] = {"keys worked on", 10000},
    [SIM_COUNT_CONVERGED] = {"histories that ended well", 2800},
    [SIM_COUNT_SIM_SECONDS] = {"simulated seconds", 1200000},
};
_Static_assert(sizeof(counts) / sizeof(counts[0]) == SIM_COUNT_MAX, "a row for each");

const char *sim_count_name(sim_count count)
{
    return counts[count].name;
}

uint64_t sim_count_least(sim_count count, uint64_t seeds)
{
    uint64_t least = counts[count].least * seeds / 10000;
    return seeds < 5000 ? least / 4 : least; /* where few are run, chance has more to say */
}
