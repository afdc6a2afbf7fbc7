/* SPDX-License-Identifier: Apache-2.0 */
/* Encodes responses in the encoding of the exchange. Each call appends to x->out; on failure x->out
 * is unchanged. Errors: -ENOMEM; others only for objects that the encoding cannot represent, which
 * never applies to stored objects of built-in kinds. */
#ifndef KI_APISERVER_ENCODE_H
#define KI_APISERVER_ENCODE_H

#include <kinformer/parts/watch_event.h>

#include "apiserver/exchange.h"

/* The fault unknown_field adds one field to every object, as a server newer than its clients would:
 * this number in protobuf, this name in JSON. No Kubernetes API uses numbers this high. */
#define KI__API_UNKNOWN_NUMBER 15000
#define KI__API_UNKNOWN_NAME "unknownField"
#define KI__API_UNKNOWN_VALUE "of a newer API"

/** The part of a list before its first item. */
int ki__api_encode_list_begin(ki__api_exchange *x);

/** The item at x->item_next. */
int ki__api_encode_list_item(ki__api_exchange *x);

/** The part of a list after its last item. */
int ki__api_encode_list_end(ki__api_exchange *x);

/** A single object as the whole response. */
int ki__api_encode_object(ki__api_exchange *x, const ki_object *object);

/** The same for generated JSON: a Status. */
int ki__api_encode_json(ki__api_exchange *x, ki_str json);

/** One watch event. */
int ki__api_encode_event(ki__api_exchange *x, ki_watch_event_type type, const ki_object *object);

/** The same for generated JSON: a bookmark or a Status. */
int ki__api_encode_event_json(ki__api_exchange *x, ki_watch_event_type type, ki_str json);

/* The same in protobuf (encode_proto.c). */
int ki__api_proto_list_begin(ki__api_exchange *x);
int ki__api_proto_list_item(ki__api_exchange *x);
int ki__api_proto_list_end(ki__api_exchange *x);
int ki__api_proto_object(ki__api_exchange *x, const ki_object *object);
int ki__api_proto_event(ki__api_exchange *x, ki_watch_event_type type, const ki_object *object);

#endif
