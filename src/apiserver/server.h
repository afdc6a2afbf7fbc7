/* SPDX-License-Identifier: Apache-2.0 */
/* One API server: a view of a model that may lag behind it, with its own watch history and
 * settings. Requests go in as text and responses come out as bytes, pulled piece by piece
 * (exchange.h), so that a socket or a simulated network may stop at any byte.
 *
 * Writes and consistent reads use the model itself, as a real server uses etcd; the rest is served
 * from the server's own position. One thread at a time for a model and all its servers. */
#ifndef KI_APISERVER_SERVER_H
#define KI_APISERVER_SERVER_H

#include "apiserver/fault.h"
#include "apiserver/model.h"

/** What a server does with sendInitialEvents. */
typedef enum ki__api_watch_list {
    KI__API_WATCH_LIST_ON,
    KI__API_WATCH_LIST_OFF,     /* refuses it with 422 */
    KI__API_WATCH_LIST_IGNORED, /* takes it for a plain watch */
} ki__api_watch_list;

enum { KI__API_NEVER = -1 };

typedef struct ki__api_server_options {
    int64_t bookmark_ms;      /* between bookmarks; 0: a minute; KI__API_NEVER: none */
    int64_t last_bookmark_ms; /* one more so long before a watch ends; 0: 2 s; KI__API_NEVER */
    int64_t fresh_wait_ms;    /* how long to wait for a version that is to come; 0: 3 s */
    int64_t watch_timeout_s;  /* of watches that name none; 0: half an hour */
    size_t window;            /* changes a watch can go back; 0: to where the model is compacted */
    size_t watches_max;       /* open at once; 0: 4096 */
    ki__api_watch_list watch_list;
    bool lags;                    /* continues by ki__api_server_advance() alone */
    bool expired_as_answer;       /* a watch that is too old gets 410 as its answer, not inside */
    bool no_cache;                /* lists at "0" are cut into pages as well */
    bool no_inconsistent_token;   /* an expired list cannot be continued at all */
    bool whole_objects;           /* objects are written as they come, status included */
    bool tracks_fields;           /* managedFields are kept for all that is created */
    const ki__api_faults *faults; /* NULL: none; outlives the server */
} ki__api_server_options;

typedef struct ki__api_server {
    ki__api_model *model;
    ki__api_server_options options;
    ki__api_reader reader;
    uint64_t expired; /* watches from before this version are refused */
    ki__list watches; /* open ones */
    size_t watch_count;
} ki__api_server;

/** Errors: -ENOMEM. The model outlives the server. */
int ki__api_server_new(ki__api_model *model, const ki__api_server_options *options,
                       ki__api_server **ret_server);

/** No exchange may be left. Always NULL; NULL is allowed. */
ki__api_server *ki__api_server_free(ki__api_server *server);

/** The version the server has got to. */
uint64_t ki__api_server_version(const ki__api_server *server);

/** Lets a server that lags see the changes up to `rv`, or to the head if that is less. */
void ki__api_server_advance(ki__api_server *server, uint64_t rv);

/** The oldest version that a watch may start from. */
uint64_t ki__api_server_oldest(const ki__api_server *server);

/** Forgets the history for watches, as a restart does; open watches continue. */
void ki__api_server_expire(ki__api_server *server);

/** Ends all open watches: the next pull gives KI__API_END, or KI__API_CUT if `cut`. */
void ki__api_server_drop_watches(ki__api_server *server, bool cut);

#endif
