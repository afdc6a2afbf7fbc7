/* SPDX-License-Identifier: Apache-2.0 */
/* Faults as data. For every request a server asks its table what shall go wrong and keeps to the
 * plan it gets; it decides nothing by itself. A simulator fills plans from its seed; rules below
 * are the ready-made way to say "every tenth list fails with 500". */
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

/** What is requested when a plan is made. */
typedef struct ki__api_point {
    ki__api_verb verb;
    const char *group;
    const char *resource;
    const char *name_space;
    bool streams; /* a watch that asks for the initial events */
} ki__api_point;

/** What goes wrong with one request. All zero: nothing. */
typedef struct ki__api_plan {
    bool refuse;             /* no answer at all: the connection is refused */
    uint64_t latency_ms;     /* the answer begins that much later */
    int http_code;           /* the answer is a failure with this code */
    uint32_t retry_after_s;  /* and with this, if not 0 */
    bool in_stream;          /* of a watch: the failure comes as an ERROR event */
    bool cut;                /* the connection breaks */
    uint64_t cut_after;      /* after so many bytes of the body */
    uint64_t drop_after_ms;  /* of a watch: it ends after this time; 0: it does not */
    bool expire;             /* the history is gone: 410 for what needs it */
    bool stale;              /* what must be current is read from what the server has */
    bool no_end_bookmark;    /* of a streaming list: the final bookmark is never sent */
    bool plain_end_bookmark; /* the same: a bookmark without the annotation is sent */

    /* What no sound server does. */
    uint64_t shuffle;        /* not 0: initial events in an order by this number */
    uint64_t skip_event;     /* the change of this number, from 1, is not sent; 0: none */
    uint64_t rewind;         /* so many changes from before the version requested are sent first */
    uint64_t bookmark_ahead; /* bookmarks have a version that is too high by this */
    bool mix_pages;    /* later pages of a list are of the newest version, not of the first's */
    bool bare_deletes; /* DELETED comes with an object that is an empty map */

    bool unknown_field; /* objects have a field that no client knows yet: encode.h */
} ki__api_plan;

/** Fills a plan, which comes all zero. */
typedef struct ki__api_faults {
    void (*decide)(const ki__api_point *point, ki__api_plan *plan, void *user);
    void *user;
} ki__api_faults;

/** One rule: with a rate, for some verbs and one or every resource, add this to the plan. */
typedef struct ki__api_rule {
    uint32_t verbs;       /* a bit for each ki__api_verb; 0: all */
    const char *resource; /* plural name; NULL: every one */
    uint32_t rate;        /* in a million */
    uint64_t skip;        /* not for the first so many requests that fit */
    uint64_t times;       /* at most so often; 0: no limit */
    ki__api_plan plan;    /* what is not zero here is set */
    uint64_t seen;        /* requests that fitted, and how often it was used: kept here */
    uint64_t used;
} ki__api_rule;

typedef struct ki__api_rules {
    ki__api_rule *rules;
    size_t count;
    uint64_t random; /* the state: a seed to begin with */
} ki__api_rules;

/** The decide function for rules; `user` is a ki__api_rules. The same seed and requests give the
 *  same plans. */
void ki__api_rules_decide(const ki__api_point *point, ki__api_plan *plan, void *user);

#endif
