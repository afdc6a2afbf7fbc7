/* SPDX-License-Identifier: Apache-2.0 */
/* The JSON parsers that bench_json.c runs beside ours, each behind one function: parse the bytes,
 * free what came of it. */
#ifndef BENCH_PEERS_H
#define BENCH_PEERS_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PEER_PADDING 64 /* readable zero bytes after each text; simdjson needs them */

typedef struct peer {
    const char *name;
    /* Parses the `len` bytes at `text`, which a NUL follows. NULL on failure. */
    void *(*parse)(const char *text, size_t len);
    void (*drop)(void *tree);
    bool keeps;          /* a result lives until it is dropped; several may live at once */
    const char *comment; /* NULL: nothing to say */
} peer;

extern const peer peer_jansson;
extern const peer peer_json_c;
extern const peer peer_cjson;
extern const peer peer_simdjson_dom;      /* one parser, used again and again */
extern const peer peer_simdjson_dom_new;  /* a parser for each text, as a cache would keep them */
extern const peer peer_simdjson_ondemand; /* a full walk: every name, string, number and literal */

#ifdef __cplusplus
}
#endif

#endif
