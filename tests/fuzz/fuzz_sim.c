/* SPDX-License-Identifier: Apache-2.0 */
/* The bytes are the simulator's choices: what is written, what breaks, in which order. A fuzzer
 * that follows the branches of the library finds histories that no seed would draw. */
#include <stddef.h>
#include <stdint.h>

#include "sim/sim.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint64_t counts[SIM_COUNT_MAX] = {0};
    static const uint8_t nothing[1];
    const sim_options options = {
        .bytes = size != 0 ? data : nothing,
        .len = size,
        .abort = true,
    };
    sim_run(&options, counts);
    return 0;
}
