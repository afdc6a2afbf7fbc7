/* SPDX-License-Identifier: Apache-2.0 */
/* Internals of a controller, for code that starts its threads: this module starts none. */
#ifndef KI_CONTROLLER_CONTROLLER_H
#define KI_CONTROLLER_CONTROLLER_H

#include <kinformer/controller.h>

#include "base/refs.h"
#include "base/sync.h"

struct ki_controller {
    ki__refs refs;                 /* of the program and of each thread */
    uint64_t process;              /* creating process */
    ki_controller_options options; /* with a reference to the queue */
    ki__mutex lock;                /* held while threads are started or joined */
    void *workers;                 /* the threads, or NULL */
    void (*free_workers)(void *workers);
};

#endif
