/* SPDX-License-Identifier: Apache-2.0 */
/* Label selectors: parsed once, immutable, matched against any object. label_selector.h has more
 * about them; field selectors are in field_selector.h. All functions are thread-safe and never
 * block. */
#ifndef KINFORMER_SELECTOR_H
#define KINFORMER_SELECTOR_H

#include <kinformer/defs.h>
#include <kinformer/error.h>
#include <kinformer/object.h>

KI_BEGIN_DECLS

typedef struct ki_selector ki_selector;

/** Parses a label selector, such as "app=web,tier in (a, b),!canary". "" matches everything.
 *  Owner:  caller; release with ki_selector_unref().
 *  Errors: KI_ERR_SYNTAX   syntax error, with its position in `error`;
 *          KI_ERR_INVALID  an invalid label key or value, with its position;
 *          KI_ERR_LIMIT    over 64 KiB of text, as given or as printed;  -ENOMEM.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_selector_parse(const char *text, const ki_alloc *alloc,
                                          ki_selector **ret_selector, ki_error *error);

/** Takes and releases references. ki_selector_unref() always returns NULL; both accept NULL.
 *  Since: 0.1 */
KI_API ki_selector *ki_selector_ref(const ki_selector *selector);
KI_API ki_selector *ki_selector_unref(const ki_selector *selector);

/** Returns whether the labels of an object match. Labels that were not kept of a partial object
 *  count as absent.  Since: 0.1 */
KI_API bool ki_selector_matches(const ki_selector *selector, const ki_object *object);

KI_AUTO_DEFINE(ki_selector, ki_selector_unref)

KI_END_DECLS

#endif
