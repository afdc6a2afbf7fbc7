/* SPDX-License-Identifier: Apache-2.0 */
/* Filling a ki_error. Every function accepts a NULL `error` and returns `code`, so that a failure
 * reads as: return ki__error_set(error, KI_ERR_SYNTAX, "..."); */
#ifndef KI_BASE_ERROR_H
#define KI_BASE_ERROR_H

#include <stddef.h>
#include <string.h>

#include <kinformer/error.h>

#include "base/shared.h"

/** Initializes an error that may hold any bytes. Writes only the head, not the message buffer: for
 *  errors on the stack in per-object code. */
static inline void ki__error_init(ki_error *error)
{
    memset(error, 0, offsetof(ki_error, message) + 1);
    error->size = sizeof(*error);
}

/** Clears an error, a caller's or ours; its `size` is kept. */
void ki__error_clear(ki_error *error);

/** The only way to copy an error. Either side may belong to the program, so be older or newer than
 *  this library: nothing is read or written beyond its size, and the size of `to`, which may be
 *  NULL, is kept. */
KI__SHARED void ki__error_copy(ki_error *to, const ki_error *from);

/** Clears `error` and sets code (less than 0) and message. The arguments may include the old
 *  message: ki__error_set(error, r, "reading the file: %s", error->message). */
KI__SHARED int ki__error_set(ki_error *error, int code, const char *format, ...) KI_PRINTF(3, 4);

/** Like ki__error_set(), with line and column of the byte `offset` of `text`. */
KI__SHARED int ki__error_at(ki_error *error, int code, ki_str text, size_t offset,
                            const char *format, ...) KI_PRINTF(5, 6);

/** Sets the code and its generic text from the table. */
KI__SHARED int ki__error_code(ki_error *error, int code);

/** -EINVAL for a NULL argument: "name: must not be NULL". */
KI__SHARED int ki__error_null(ki_error *error, const char *argument);

/** For the first lines of public functions: returns -EINVAL if the argument is NULL. `error` is
 *  that of the function, or NULL if it has none. */
#define KI__REQUIRE(argument, error)                   \
    do {                                               \
        if ((argument) == NULL) {                      \
            return ki__error_null((error), #argument); \
        }                                              \
    } while (0)

/** Appends untrusted text to the message, in whole characters, with "..." if truncated. Line ends
 *  and tabs become spaces; other control characters and invalid UTF-8 become '?'. */
void ki__error_add(ki_error *error, ki_str text);

/** Whether this is an error reported by an API server, or by a lister in the same terms. */
static inline bool ki__error_is_status(const ki_error *error)
{
    return error->code == KI_ERR_STATUS ||
           ((error->code == KI_ERR_NOT_FOUND || error->code == KI_ERR_EXISTS) &&
            (error->http_code != 0 || error->reason != KI_REASON_UNKNOWN));
}

#endif
