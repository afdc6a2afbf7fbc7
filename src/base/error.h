/* SPDX-License-Identifier: Apache-2.0 */
/* Filling a ki_error. Every function accepts a NULL `error` and returns `code`, so that a failure
 * reads as: return ki__error_set(error, KI_ERR_SYNTAX, "..."); */
#ifndef KI_BASE_ERROR_H
#define KI_BASE_ERROR_H

#include <stddef.h>
#include <string.h>

#include <kinformer/error.h>

#include "base/shared.h"

/** An error of our own that says nothing, with any bytes in it before. Only the head is written,
 * not the space for text: for errors on the stack of what runs once for each object. */
static inline void ki__error_init(ki_error *error)
{
    memset(error, 0, offsetof(ki_error, message) + 1);
    error->size = sizeof(*error);
}

/** Empties an error, a caller's or ours; its `size` stays. */
void ki__error_clear(ki_error *error);

/** Copies what `from` says: the one way to do so. Each may be the program's, so older or newer than
 *  this library: nothing is read or written beyond their sizes, and the size of `to` stays. A NULL
 *  `to` is fine. */
KI__SHARED void ki__error_copy(ki_error *to, const ki_error *from);

/** Clears `error` and sets code (less than 0) and message. The message may be made of the old one:
 *  ki__error_set(error, r, "reading the file: %s", error->message). */
KI__SHARED int ki__error_set(ki_error *error, int code, const char *format, ...) KI_PRINTF(3, 4);

/** The same for a place `offset` bytes into `text`, of which line and column are counted here. */
KI__SHARED int ki__error_at(ki_error *error, int code, ki_str text, size_t offset,
                            const char *format, ...) KI_PRINTF(5, 6);

/** Sets the code with its own text from the table, for failures that need no more words. */
KI__SHARED int ki__error_code(ki_error *error, int code);

/** -EINVAL for an argument that is NULL and must not be: "name: must not be NULL". */
KI__SHARED int ki__error_null(ki_error *error, const char *argument);

/** The first lines of public functions: returns -EINVAL if the argument is NULL. `error` is that of
 *  the function, or NULL if it has none. */
#define KI__REQUIRE(argument, error)                   \
    do {                                               \
        if ((argument) == NULL) {                      \
            return ki__error_null((error), #argument); \
        }                                              \
    } while (0)

/** Appends text of unknown origin to the message, as far as whole characters fit, and "..." if not
 *  all of them do: blanks stand for
 *  line ends and tabs, '?' for other control characters and for what is not UTF-8. A NULL `error`
 *  is valid. */
void ki__error_add(ki_error *error, ki_str text);

/** Whether an API server reported this error, or a lister in its words. */
static inline bool ki__error_is_status(const ki_error *error)
{
    return error->code == KI_ERR_STATUS ||
           ((error->code == KI_ERR_NOT_FOUND || error->code == KI_ERR_EXISTS) &&
            (error->http_code != 0 || error->reason != KI_REASON_UNKNOWN));
}

#endif
