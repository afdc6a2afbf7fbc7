/* SPDX-License-Identifier: Apache-2.0 */
/* A session: a server, the named resources, and an informer for each, on one loop. */
#ifndef KI_CLI_SESSION_H
#define KI_CLI_SESSION_H

#include <kinformer/client.h>
#include <kinformer/discovery.h>
#include <kinformer/factory.h>
#include <kinformer/health.h>
#include <kinformer/informer.h>
#include <kinformer/parts/source.h>
#include <kinformer/shard.h>

#include "cli/args.h"
#include "cli/command_loop.h"
#include "cli/flags.h"
#include "cli/serve.h"

enum { CLI_TARGETS_MAX = 64 };

typedef struct cli_session cli_session;

/** State of an informer as last reported; see follow.h. */
typedef enum cli_follow_state {
    CLI_FOLLOW_WELL,
    CLI_FOLLOW_FAILING,
    CLI_FOLLOW_RECONNECTED,
} cli_follow_state;

typedef struct cli_follow {
    cli_follow_state state;
    ki_failure_class failure; /* last reported */
    bool lookup_running;      /* a discovery request is in progress */
    uint64_t failed_ns;       /* start of the last outage */
    uint64_t accepted_ns;     /* when the current watch was first seen accepted; 0: not yet */
    uint64_t watches;         /* number of that watch */
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
    bool synced; /* all initial objects were delivered to the handler */
    cli_follow follow;
    void *user;                 /* of the command */
    const char *field_selector; /* replaces that of the flags; NULL: none */
} cli_target;

struct cli_session {
    const cli_flags *flags;
    ki_log log;
    const ki_config *config;
    ki_loop *loop;
    ki_client *client;
    ki_factory *factory;
    ki_monitor_server *monitor; /* NULL: nothing is served */
    cli_loop events;
    ki_discovery *discovery;
    cli_target targets[CLI_TARGETS_MAX];
    size_t target_count;
    size_t synced_count;
    char shard[KI_SHARD_TEXT_SIZE]; /* selector of the flag; "": everything */
    uint64_t started_ns;
    uint64_t synced_ns;       /* when all targets had synced; 0: not yet */
    ki_error failure;         /* why the session cannot continue, if so */
    char *failure_text;       /* the server's full message; NULL: use that of `failure` */
    const cli_target *failed; /* the failed target, if the message does not name it; or NULL */
    ki_error reported;        /* last report of the library */
    void (*on_synced)(cli_target *target);

    /* Optional settings, before the start. */
    bool track_readers;             /* of all caches */
    bool stays;                     /* keep running if the server rejects the first list */
    const cli_serve_options *serve; /* NULL: nothing is served */
    uint32_t resync_ms;             /* resync period of handlers; 0: none */
    uint32_t page_size;             /* list page size; 0: the library's default */
    int (*prepare)(cli_target *target,
                   ki_error *error); /* called for its informer before the start */
    /** Creates the source of a target; NULL: objects from the server. */
    int (*make_source)(cli_target *target, const char *name_space, ki_source *ret_source,
                       ki_error *error);
};

/** Connects and resolves the resources: each word is a resource, a category such as "all", or a
 *  comma-separated list. Reports failures. Returns an exit code; CLI_OK: continue. Call
 *  cli_session_close() in any case. */
int cli_session_open(cli_session *session, const cli_flags *flags, const char *const *names,
                     size_t name_count);

/** Creates an informer for each target, with this handler, whose `user` is the target, and starts
 *  them. `on_synced` (may be NULL) is called when all initial objects of a target were
 *  delivered. */
KI_NODISCARD int cli_session_start(cli_session *session, const ki_handler *handler,
                                   void (*on_synced)(cli_target *target), ki_error *error);

/** Adds an index to the informer of a target, for `prepare`. `made` is the result of creating the
 *  index. */
KI_NODISCARD int cli_session_add_index(cli_target *target, int made, ki_index *index,
                                       ki_error *error);

/** Runs until the session ends. Reports failures and returns the exit code. A signal is a regular
 *  end. `timeout_ms`: for the first sync; 0: none. */
int cli_session_run(cli_session *session, uint32_t timeout_ms);

/** Ends the session successfully. */
void cli_session_end(cli_session *session);

bool cli_session_is_synced(const cli_session *session);

/** The exit code of a command that prints all objects: CLI_SKIPPED, after reporting their number,
 *  instead of CLI_OK if objects were skipped. */
int cli_session_result(const cli_session *session, int code);

void cli_session_close(cli_session *session);

#endif
