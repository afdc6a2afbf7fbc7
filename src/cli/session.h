/* SPDX-License-Identifier: Apache-2.0 */
/* A session: a server, the resources that were named, and an informer of each, on one loop. */
#ifndef KI_CLI_SESSION_H
#define KI_CLI_SESSION_H

#include <kinformer/client.h>
#include <kinformer/discovery.h>
#include <kinformer/factory.h>
#include <kinformer/informer.h>
#include <kinformer/parts/source.h>

#include "cli/args.h"
#include "cli/command_loop.h"
#include "cli/flags.h"

enum { CLI_TARGETS_MAX = 64 };

typedef struct cli_session cli_session;

/** How an informer is, as far as it was reported; see follow.h. */
typedef enum cli_follow_state {
    CLI_FOLLOW_WELL,
    CLI_FOLLOW_FAILING,
    CLI_FOLLOW_RECONNECTED,
} cli_follow_state;

typedef struct cli_follow {
    cli_follow_state state;
    ki_failure_class failure; /* that was reported last */
    bool asking;              /* discovery, what the server still serves */
    uint64_t failed_ns;       /* when the last outage began */
    uint64_t accepted_ns;     /* when the watch under way was first seen accepted; 0: not yet */
    uint64_t watches;         /* which one that is */
    uint64_t arrived;         /* events and bookmarks before it */
    uint64_t syncs;
    uint64_t relists;
    uint64_t epoch_changes;
} cli_follow;

/** One resource. */
typedef struct cli_target {
    cli_session *session;
    const ki_resource *resource;
    char *label; /* "pods", "deployments.apps" */
    ki_informer *informer;
    ki_registration *registration;
    bool synced; /* the handler was told of all that was there */
    cli_follow follow;
    void *user;                 /* the command's */
    const char *field_selector; /* in the place of that of the flags; NULL: none */
} cli_target;

struct cli_session {
    const cli_flags *flags;
    ki_log log;
    const ki_config *config;
    ki_loop *loop;
    ki_client *client;
    ki_factory *factory;
    cli_loop events;
    ki_discovery *discovery;
    cli_target targets[CLI_TARGETS_MAX];
    size_t target_count;
    size_t synced_count;
    uint64_t started_ns;
    uint64_t synced_ns;       /* when all had synced; 0 before */
    ki_error failure;         /* why it cannot continue, if that is so */
    char *failure_text;       /* the server's message in full; NULL: that of `failure` does */
    const cli_target *failed; /* whose failure it is, if its message does not say so; or NULL */
    ki_error reported;        /* what the library reported last */
    void (*on_synced)(cli_target *target);

    /* To be set before the start, if wanted. */
    bool stays;         /* also if the server refuses the first list */
    uint32_t resync_ms; /* handlers hear of all objects that often; 0: never */
    uint32_t page_size; /* lists come in pages of so many objects; 0: as the library does */
    int (*prepare)(cli_target *target, ki_error *error); /* its informer, before it starts */
    /** Makes the source of a target; NULL: objects from the server. */
    int (*make_source)(cli_target *target, const char *name_space, ki_source *ret_source,
                       ki_error *error);
};

/** Connects, and finds the resources: each word names one, a category such as "all", or several
 * with commas between them. Says what is wrong. Gives an exit code; CLI_OK: continue. In any case
 * cli_session_close(). */
int cli_session_open(cli_session *session, const cli_flags *flags, const char *const *names,
                     size_t name_count);

/** Creates an informer for each target, with this handler, whose `user` is the target, and starts
 *  them. `on_synced` (may be NULL) is called when all initial objects of a target were
 *  delivered. */
KI_NODISCARD int cli_session_start(cli_session *session, const ki_handler *handler,
                                   void (*on_synced)(cli_target *target), ki_error *error);

/** Adds an index to the informer of a target, for `prepare`. `made` is what making the index gave.
 */
KI_NODISCARD int cli_session_add_index(cli_target *target, int made, ki_index *index,
                                       ki_error *error);

/** Runs until something ends it. Gives the exit code, having said what went wrong. A signal is a
 *  fine end. `timeout_ms`: for the first sync; 0: none. */
int cli_session_run(cli_session *session, uint32_t timeout_ms);

/** Ends it with success. */
void cli_session_end(cli_session *session);

bool cli_session_is_synced(const cli_session *session);

/** The exit code of a command that shows all objects: CLI_SKIPPED, having said how many, in place
 * of CLI_OK if objects were skipped. */
int cli_session_result(const cli_session *session, int code);

void cli_session_close(cli_session *session);

#endif
