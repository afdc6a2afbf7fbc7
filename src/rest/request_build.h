/* SPDX-License-Identifier: Apache-2.0 */
/* An HTTP request, built from a ki_request. */
#ifndef KI_REST_REQUEST_BUILD_H
#define KI_REST_REQUEST_BUILD_H

#include <kinformer/buf.h>
#include <kinformer/parts/transport.h>
#include <kinformer/request.h>

/* Content of a successful response. */
typedef enum ki__expect {
    KI__EXPECT_OBJECT,
    KI__EXPECT_OBJECT_OR_NOTHING,
    KI__EXPECT_LIST,
    KI__EXPECT_LIST_OR_STATUS,
    KI__EXPECT_BYTES
} ki__expect;

typedef struct ki__built {
    const ki_alloc *alloc;
    const ki_resource *resource; /* a reference; NULL for a raw request */
    ki_buf method;
    ki_buf path;
    ki_buf query;
    ki_buf accept;
    ki_buf content_type; /* empty without a body */
    ki_buf body;         /* may be a Secret: wiped when released */
    ki_buf name;         /* of the object, for messages */
    ki__expect expect;
    bool whole; /* the response has the kind of the resource, not of a subresource */
    bool safe;  /* idempotent */
    bool no_retry;
    bool later_page;
    uint32_t timeout_ms; /* 0: the client's; UINT32_MAX: none */
} ki__built;

/** Builds the request. `name_space` is that of the configuration. Call ki__built_done() after a
 *  failure too.
 *  Errors: -EINVAL         members are missing, not supported, or invalid;
 *          KI_ERR_INVALID  an invalid name;
 *          KI_ERR_LIMIT    over 64 MiB;  those of encoding the object;  -ENOMEM, -E2BIG. */
int ki__built_make(ki__built *built, const ki_alloc *alloc, const ki_request *request,
                   const char *name_space, ki_error *error);
void ki__built_done(ki__built *built);

enum { KI__BUILT_HEADERS = 2 };

/** The request for a transport; borrows from `built` and `headers`. */
ki_http_request ki__built_request(const ki__built *built,
                                  ki_http_header headers[KI__BUILT_HEADERS]);

#endif
