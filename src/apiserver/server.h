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

/** Support for sendInitialEvents. */
typedef enum ki__api_watch_list {
    KI__API_WATCH_LIST_ON,
    KI__API_WATCH_LIST_OFF,     /* rejected with 422 */
    KI__API_WATCH_LIST_IGNORED, /* ignored: a plain watch */
} ki__api_watch_list;

enum { KI__API_NEVER = -1 };

typedef struct ki__api_server_options {
    int64_t bookmark_ms;      /* interval of bookmarks; 0: one minute; KI__API_NEVER: none */
    int64_t last_bookmark_ms; /* an extra one before a watch ends; 0: 2 s; KI__API_NEVER: none */
    int64_t fresh_wait_ms;    /* how long reads wait for a future version; 0: 3 s */
    int64_t watch_timeout_s;  /* of watches without timeoutSeconds; 0: half an hour */
    size_t window; /* number of changes in the watch history; 0: back to the compacted version */
    size_t watches_max; /* open at once; 0: 4096 */
    ki__api_watch_list watch_list;
    bool lags;                    /* advances only by ki__api_server_advance() */
    bool expired_as_response;     /* an expired watch gets HTTP 410 instead of an ERROR event */
    bool no_cache;                /* lists at "0" are paginated as well */
    bool no_inconsistent_token;   /* an expired list cannot be continued at all */
    bool whole_objects;           /* objects are stored as sent, including status */
    bool tracks_fields;           /* managedFields are kept for all created objects */
    const ki__api_faults *faults; /* NULL: none; outlives the server */
} ki__api_server_options;

typedef struct ki__api_server {
    ki__api_model *model;
    ki__api_server_options options;
    ki__api_reader reader;
    uint64_t expired; /* watches from older versions are rejected */
    ki__list watches; /* open ones */
    size_t watch_count;
} ki__api_server;

/** Errors: -ENOMEM. The model outlives the server. */
int ki__api_server_new(ki__api_model *model, const ki__api_server_options *options,
                       ki__api_server **ret_server);

/** All exchanges must have been freed. Always returns NULL; NULL is allowed. */
ki__api_server *ki__api_server_free(ki__api_server *server);

/** The version that the server has reached. */
uint64_t ki__api_server_version(const ki__api_server *server);

/** Advances a lagging server to `rv`, at most to the head. */
void ki__api_server_advance(ki__api_server *server, uint64_t rv);

/** The oldest version that a watch may start from. */
uint64_t ki__api_server_oldest(const ki__api_server *server);

/** Expires the watch history, as a restart does; open watches continue. */
void ki__api_server_expire(ki__api_server *server);

/** Ends all open watches: the next pull returns KI__API_END, or KI__API_CUT if `cut`. */
void ki__api_server_drop_watches(ki__api_server *server, bool cut);

#endif
