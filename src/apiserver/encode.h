/* SPDX-License-Identifier: Apache-2.0 */
/* Lists and watch events as bytes on the wire. Each call appends, and on failure leaves `out` as it
 * was. */
#ifndef KI_APISERVER_ENCODE_H
#define KI_APISERVER_ENCODE_H

#include "apiserver/exchange.h"

typedef enum ki__api_event {
    KI__API_EVENT_ADDED,
    KI__API_EVENT_MODIFIED,
    KI__API_EVENT_DELETED,
    KI__API_EVENT_BOOKMARK,
    KI__API_EVENT_ERROR,
    KI__API_EVENT_MAX
} ki__api_event;

/** Everything of a list before its first item. */
int ki__api_encode_list_begin(ki__api_exchange *x);

/** The item at x->item_next. */
int ki__api_encode_list_item(ki__api_exchange *x);

/** What follows the last item. */
int ki__api_encode_list_end(ki__api_exchange *x);

/** One event of a watch. */
int ki__api_encode_event(ki__api_exchange *x, ki__api_event event, const ki_object *object);

/** One event whose object is JSON that is not stored: a bookmark or a Status. */
int ki__api_encode_event_json(ki__api_exchange *x, ki__api_event event, ki_str json);

#endif
