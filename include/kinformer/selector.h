/* SPDX-License-Identifier: Apache-2.0 */
/* Label selectors: parsed once, immutable, matched against any object. Field selectors are in
 * field_selector.h. All functions are thread-safe and never block. */
#ifndef KINFORMER_SELECTOR_H
#define KINFORMER_SELECTOR_H

#include <kinformer/defs.h>
#include <kinformer/error.h>
#include <kinformer/object.h>
#include <kinformer/str.h>
#include <kinformer/value.h>

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

/** Takes and releases references. ki_selector_unref() always returns NULL; both accept NULL.
 *  Since: 0.1 */
KI_API ki_selector *ki_selector_ref(const ki_selector *selector);
KI_API ki_selector *ki_selector_unref(const ki_selector *selector);

/** Returns whether a selector matches everything, regardless of the labels.  Since: 0.1 */
KI_API bool ki_selector_is_everything(const ki_selector *selector);
/** Returns whether a selector matches nothing, regardless of the labels.  Since: 0.1 */
KI_API bool ki_selector_is_nothing(const ki_selector *selector);

/** Returns whether the labels of an object match. Labels that were not kept of a partial object
 *  count as absent.  Since: 0.1 */
KI_API bool ki_selector_matches(const ki_selector *selector, const ki_object *object);

/** Returns whether a map of labels matches; KI_TYPE_NONE means no labels.  Since: 0.1 */
KI_API bool ki_selector_matches_labels(const ki_selector *selector, const ki_value *labels);

/** Appends a selector in text form: requirements sorted by key, values sorted. Parsing the text
 *  results in the same selector.
 *  Errors: KI_ERR_UNSUPPORTED  it matches nothing, which has no text form ("" matches everything);
 *          KI_ERR_LIMIT or -ENOMEM from `out`. On failure `out` is unchanged.  Since: 0.1 */
KI_API KI_NODISCARD int ki_selector_print(const ki_selector *selector, ki_buf *out);

/** Which objects of a resource an informer has: see ki_informer_select(). */
typedef struct ki_selection {
    size_t size;                /* see KI_OPTIONS_INIT */
    const char *label_selector; /* NULL or "": every object, as of the next two */
    const char *field_selector;
    const char *shard_selector; /* see shard.h */
} ki_selection;

KI_AUTO_DEFINE(ki_selector, ki_selector_unref)

KI_END_DECLS

#endif
