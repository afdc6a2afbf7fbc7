/* SPDX-License-Identifier: Apache-2.0 */
/* Answers as bytes on the wire, in the encoding of the exchange. Each call appends to x->out, and
 * on failure leaves it as it was. Errors: -ENOMEM;  others only for objects that have no form in
 * this encoding, which no stored object of a built-in kind is. */
#ifndef KI_APISERVER_ENCODE_H
#define KI_APISERVER_ENCODE_H

#include <kinformer/parts/watch_event.h>

#include "apiserver/exchange.h"

/* With the fault unknown_field every object has one field more, as objects of a server that is
 * newer than its clients have: by this number in protobuf, by this name in JSON. No API of
 * Kubernetes has numbers that high. */
#define KI__API_UNKNOWN_NUMBER 15000
#define KI__API_UNKNOWN_NAME "unknownField"
#define KI__API_UNKNOWN_VALUE "of a newer API"

/** Everything of a list before its first item. */
int ki__api_encode_list_begin(ki__api_exchange *x);

/** The item at x->item_next. */
int ki__api_encode_list_item(ki__api_exchange *x);

/** What follows the last item. */
int ki__api_encode_list_end(ki__api_exchange *x);

/** An object that is the whole answer. */
int ki__api_encode_object(ki__api_exchange *x, const ki_object *object);

/** The same for JSON that is not stored: a Status. */
int ki__api_encode_json(ki__api_exchange *x, ki_str json);

/** One event of a watch. */
int ki__api_encode_event(ki__api_exchange *x, ki_watch_event_type type, const ki_object *object);

/** The same for JSON that is not stored: a bookmark or a Status. */
int ki__api_encode_event_json(ki__api_exchange *x, ki_watch_event_type type, ki_str json);

/* The same in protobuf (encode_proto.c). */
int ki__api_proto_list_begin(ki__api_exchange *x);
int ki__api_proto_list_item(ki__api_exchange *x);
int ki__api_proto_list_end(ki__api_exchange *x);
int ki__api_proto_object(ki__api_exchange *x, const ki_object *object);
int ki__api_proto_event(ki__api_exchange *x, ki_watch_event_type type, const ki_object *object);

#endif
