/* SPDX-License-Identifier: Apache-2.0 */
/* Faults as data. For each request a server calls its fault table, which returns a plan; the server
 * only executes plans. A simulator generates plans from its seed; the rules below are the
 * ready-made implementation for "every tenth list fails with 500". */
#ifndef KI_APISERVER_FAULT_H
#define KI_APISERVER_FAULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum ki__api_verb {
    KI__API_GET,
    KI__API_LIST,
    KI__API_WATCH,
    KI__API_CREATE,
    KI__API_UPDATE,
    KI__API_PATCH,
    KI__API_DELETE,
    KI__API_DELETE_COLLECTION,
    KI__API_VERB_MAX
} ki__api_verb;

/** The request that a plan is made for. */
typedef struct ki__api_point {
    ki__api_verb verb;
    const char *group;
    const char *resource;
    const char *name_space;
    bool streams; /* a watch with sendInitialEvents */
} ki__api_point;

/** Faults of one request. All zero: none. */
typedef struct ki__api_plan {
    bool refuse;             /* no response: the connection is refused */
    uint64_t latency_ms;     /* delay before the response begins */
    int http_code;           /* fail with this HTTP status */
    uint32_t retry_after_s;  /* Retry-After of that failure, if not 0 */
    bool in_stream;          /* watch: the failure is an ERROR event */
    bool cut;                /* the connection breaks */
    uint64_t cut_after;      /* after this many bytes of the body */
    uint64_t drop_after_ms;  /* watch: ends after this time; 0: no limit */
    bool expire;             /* the history has expired: 410 for requests that need it */
    bool stale;              /* consistent reads return the server's own, maybe stale, state */
    bool no_end_bookmark;    /* streaming list: the final bookmark is never sent */
    bool plain_end_bookmark; /* streaming list: the final bookmark lacks its annotation */

    /* Faults that no correct server has. */
    uint64_t shuffle;    /* seed to shuffle the initial events; 0: in order */
    uint64_t skip_event; /* number of the change, from 1, that is not sent; 0: none */
    uint64_t rewind;     /* number of changes before the requested version that are sent first */
    uint64_t bookmark_ahead; /* added to the resourceVersion of bookmarks */
    bool mix_pages;    /* later pages of a list have the newest version, not the first page's */
    bool bare_deletes; /* the object of DELETED events is an empty map */

    bool unknown_field; /* objects have a field unknown to all clients: encode.h */
} ki__api_plan;

/** Fills a plan, which is zeroed before the call. */
typedef struct ki__api_faults {
    void (*decide)(const ki__api_point *point, ki__api_plan *plan, void *user);
    void *user;
} ki__api_faults;

/** One rule: adds `plan` to matching requests with a given probability. */
typedef struct ki__api_rule {
    uint32_t verbs;       /* one bit per ki__api_verb; 0: all */
    const char *resource; /* plural name; NULL: all */
    uint32_t rate;        /* per million */
    uint64_t skip;        /* number of matching requests to let pass first */
    uint64_t times;       /* maximum number of uses; 0: unlimited */
    ki__api_plan plan;    /* nonzero members are set */
    uint64_t seen;        /* matching requests so far, and how often the rule was used: state */
    uint64_t used;
} ki__api_rule;

typedef struct ki__api_rules {
    ki__api_rule *rules;
    size_t count;
    uint64_t random; /* generator state; initialize with a seed */
} ki__api_rules;

/** The decide function for rules; `user` is a ki__api_rules. Deterministic: the same seed and
 *  requests give the same plans. */
void ki__api_rules_decide(const ki__api_point *point, ki__api_plan *plan, void *user);

#endif
