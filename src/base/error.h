/* SPDX-License-Identifier: Apache-2.0 */
/* Filling a ki_error. Every function takes a NULL `error` and gives back `code`, so that a failure
 * reads as: return ki__error_set(error, KI_ERR_SYNTAX, "..."); */
#ifndef KI_BASE_ERROR_H
#define KI_BASE_ERROR_H

#include <kinformer/error.h>

/** Clears `error` and sets code (less than 0) and message. The message may be made of the old one:
 *  ki__error_set(error, r, "reading the file: %s", error->message). */
int ki__error_set(ki_error *error, int code, const char *format, ...) KI_PRINTF(3, 4);

/** The same for a place `offset` bytes into `text`, of which line and column are counted here. */
int ki__error_at(ki_error *error, int code, ki_str text, size_t offset, const char *format, ...)
    KI_PRINTF(5, 6);

/** Sets the code with its own text from the table, for failures that need no more words. */
int ki__error_code(ki_error *error, int code);

/** Appends text of unknown origin to the message, as far as whole characters fit: blanks stand for
 *  line ends and tabs, '?' for other control characters and for what is not UTF-8. A NULL `error`
 *  is fine. */
void ki__error_add(ki_error *error, ki_str text);

#endif
