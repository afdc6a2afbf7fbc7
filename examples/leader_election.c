/* SPDX-License-Identifier: Apache-2.0 */
/* Two replicas of a program elect a leader on a Lease: the second one takes over when the first one
 * stops. Usually each is a process of its own. */
#include <stdio.h>
#include <time.h>

#include <kinformer/kinformer.h>
#include <kinformer/leader.h>

typedef struct replica {
    const char *name;
    ki_client *client;
    ki_leader *leader;
} replica;

static void on_started(int64_t term, void *user)
{
    const replica *me = user;
    printf("%s leads in term %d\n", me->name, (int)term);
    fflush(stdout);
}

static void on_stopped(void *user)
{
    const replica *me = user;
    printf("%s has stopped\n", me->name);
    fflush(stdout);
}

static int start(replica *me, ki_error *error)
{
    ki_leader_options options = KI_OPTIONS_INIT(ki_leader_options);
    options.name_space = "shop";
    options.name = "website-controller";
    options.identity = me->name; /* by default host name and a random suffix */
    options.on_started = on_started;
    options.on_stopped = on_stopped;
    options.user = me;
    int r = ki_client_new(NULL, &me->client, error);
    r = r < 0 ? r : ki_leader_new(me->client, &options, &me->leader, error);
    return r < 0 ? r : ki_leader_start(me->leader, error);
}

/* Programs use on_started, or `leader` of a controller; this one has nothing else to do. */
static void wait_until_it_leads(const replica *me)
{
    while (!ki_leader_is(me->leader)) {
        (void)nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    }
}

/* A leader that was paused must not write: it checks that its term has not ended. */
static bool write_something(const replica *me)
{
    int64_t term = ki_leader_term(me->leader); /* -1: another replica leads */
    /* ... read caches, decide ... */
    return ki_leader_holds(me->leader, term);
}

int main(void)
{
    replica first = {"first", NULL, NULL};
    replica second = {"second", NULL, NULL};
    ki_error error = KI_ERROR_INIT;
    int r = start(&first, &error);
    if (r >= 0) {
        wait_until_it_leads(&first);
        r = start(&second, &error);
    }
    if (r < 0) {
        fprintf(stderr, "%s\n", error.message);
    } else {
        printf("first writes: %d, second: %d\n", write_something(&first), write_something(&second));
        fflush(stdout);
        first.leader = ki_leader_close(first.leader); /* releases the Lease */
        wait_until_it_leads(&second);
    }
    (void)ki_leader_close(first.leader);
    (void)ki_leader_close(second.leader);
    (void)ki_client_close(first.client);
    (void)ki_client_close(second.client);
    return r < 0 ? 1 : 0;
}
