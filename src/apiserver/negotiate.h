/* SPDX-License-Identifier: Apache-2.0 */
/* Content types: which encoding a client accepts, and which one it sends. */
#ifndef KI_APISERVER_NEGOTIATE_H
#define KI_APISERVER_NEGOTIATE_H

#include "apiserver/exchange.h"

/** The value of a header, or the empty view. */
ki_str ki__api_request_header(const ki__api_request *request, const char *name);

/** What comes first in `accept` that can be served: any order of types, parameters and weights is
 *  valid; weights other than 0 do not count. Forms other than the object itself (as=Table) there
 * are only in JSON, and only if `forms`. False if there is none. */
bool ki__api_negotiate(ki_str accept, bool protobuf, bool forms, ki_encoding *ret_encoding,
                       ki__api_form *ret_form);

/** Whether a form (in lower case) of an answer is among what is accepted, in this version. */
bool ki__api_accepts_form(ki_str accept, const char *form, const char *version);

/** The type of a body, without its parameters and blanks; a view of the input. */
ki_str ki__api_media_type(ki_str content_type);

/** Whether two media types are the same; their case does not matter. */
bool ki__api_is_media_type(ki_str type, const char *other);

#endif
