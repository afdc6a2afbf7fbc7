/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptors on a loop, for whoever does input and output on it. */
#ifndef KI_LOOP_LOOP_H
#define KI_LOOP_LOOP_H

#include <kinformer/loop.h>

/* Part of the thing that uses it. All of this is for the thread that runs the loop, or while nobody
 * does. */
typedef struct ki__watch {
    ki_loop *loop;
    int fd;
    uint32_t events; /* of epoll */
    void (*ready)(struct ki__watch *watch, uint32_t events);
} ki__watch;

/** Watches a descriptor for epoll's events, EPOLLIN and so on. -errno. */
int ki__watch_add(ki__watch *watch, ki_loop *loop, int fd, uint32_t events,
                  void (*ready)(ki__watch *watch, uint32_t events));
/** Watches for others. -errno. */
int ki__watch_change(ki__watch *watch, uint32_t events);
/** Ends it, also from inside `ready` of this or any other: it is not called any more. Fine for one
 *  that was never added. The descriptor must still be open. */
void ki__watch_remove(ki__watch *watch);

#endif
