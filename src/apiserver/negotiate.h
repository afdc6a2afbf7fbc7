/* SPDX-License-Identifier: Apache-2.0 */
/* Content negotiation: the encoding that a client accepts, and the one that it sends. */
#ifndef KI_APISERVER_NEGOTIATE_H
#define KI_APISERVER_NEGOTIATE_H

#include "apiserver/exchange.h"

/** The value of a header, or the empty view. */
ki_str ki__api_request_header(const ki__api_request *request, const char *name);

/** Selects the first supported entry of `accept`; types, parameters and weights may be in any
 *  order, and weights other than 0 are ignored. Forms other than the object itself (as=Table) exist
 *  only in JSON, and only if `forms` is set. False if no entry is supported. */
bool ki__api_negotiate(ki_str accept, bool protobuf, bool forms, ki_encoding *ret_encoding,
                       ki__api_form *ret_form);

/** Whether `accept` contains a form (in lower case) in this version. */
bool ki__api_accepts_form(ki_str accept, const char *form, const char *version);

/** The media type of a body without parameters and white space; a view of the input. */
ki_str ki__api_media_type(ki_str content_type);

/** Whether two media types are equal, ignoring case. */
bool ki__api_is_media_type(ki_str type, const char *other);

#endif
