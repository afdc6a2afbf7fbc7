/* SPDX-License-Identifier: Apache-2.0 */
/* More about label selectors (selector.h): from fields of objects, and as text. All functions are
 * thread-safe and never block. */
#ifndef KINFORMER_LABEL_SELECTOR_H
#define KINFORMER_LABEL_SELECTOR_H

#include <kinformer/defs.h>
#include <kinformer/error.h>
#include <kinformer/selector.h>
#include <kinformer/value.h>

KI_BEGIN_DECLS

/** Creates a selector from a metav1.LabelSelector value (matchLabels and matchExpressions). A value
 *  of KI_TYPE_NONE or null matches nothing, an empty map everything.
 *  Owner, Errors: as ki_selector_parse(); KI_ERR_INVALID names the field.  Since: 0.1 */
KI_API KI_NODISCARD int ki_selector_from_value(const ki_value *label_selector,
                                               const ki_alloc *alloc, ki_selector **ret_selector,
                                               ki_error *error);

/** Returns the selector that matches everything. Static: never freed, references have no effect.
 *  Since: 0.1 */
KI_API const ki_selector *ki_selector_everything(void);
/** Returns the selector that matches nothing. Static: never freed, references have no effect.
 *  Since: 0.1 */
KI_API const ki_selector *ki_selector_nothing(void);

/** Returns whether a selector matches everything, regardless of the labels.  Since: 0.1 */
KI_API bool ki_selector_is_everything(const ki_selector *selector);
/** Returns whether a selector matches nothing, regardless of the labels.  Since: 0.1 */
KI_API bool ki_selector_is_nothing(const ki_selector *selector);

/** Returns whether a map of labels matches; KI_TYPE_NONE means no labels.  Since: 0.1 */
KI_API bool ki_selector_matches_labels(const ki_selector *selector, const ki_value *labels);

/** Appends a selector in text form: requirements sorted by key, values sorted. Parsing the text
 *  results in the same selector.
 *  Errors: KI_ERR_UNSUPPORTED  it matches nothing, which has no text form ("" matches everything);
 *          KI_ERR_LIMIT or -ENOMEM from `out`. On failure `out` is unchanged.  Since: 0.1 */
KI_API KI_NODISCARD int ki_selector_print(const ki_selector *selector, ki_buf *out);

KI_END_DECLS

#endif
