/* SPDX-License-Identifier: Apache-2.0 */
/* Label selectors and field selectors: parsed once, immutable, matched against any object.
 * All functions may be called on any thread and never block. */
#ifndef KINFORMER_SELECTOR_H
#define KINFORMER_SELECTOR_H

#include <kinformer/alloc.h>
#include <kinformer/buf.h>
#include <kinformer/defs.h>
#include <kinformer/error.h>
#include <kinformer/object.h>
#include <kinformer/str.h>
#include <kinformer/value.h>

KI_BEGIN_DECLS

typedef struct ki_selector ki_selector;

/** Parses a label selector, such as "app=web,tier in (a, b),!canary". "" selects everything.
 *  Owner:  release with ki_selector_unref().
 *  Errors: KI_ERR_SYNTAX   with the offending place in `error`;
 *          KI_ERR_INVALID  a key or value that no label can have, with its place;
 *          KI_ERR_LIMIT    over 64 KiB of text, as given or as printed;  -ENOMEM.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_selector_parse(ki_str text, const ki_alloc *alloc,
                                          ki_selector **ret_selector, ki_error *error);

/** The selector of a metav1.LabelSelector value (matchLabels and matchExpressions). A value of
 *  KI_TYPE_NONE or null selects nothing, an empty map everything.
 *  Owner, Errors: as ki_selector_parse(); KI_ERR_INVALID names the field.  Since: 0.1 */
KI_API KI_NODISCARD int ki_selector_from_value(const ki_value *label_selector,
                                               const ki_alloc *alloc, ki_selector **ret_selector,
                                               ki_error *error);

/** The selectors that match everything and nothing. Never freed; ref and unref are fine.
 *  Since: 0.1 */
KI_API const ki_selector *ki_selector_everything(void);
KI_API const ki_selector *ki_selector_nothing(void);

/** References. ki_selector_unref() always returns NULL; NULL is fine for both.  Since: 0.1 */
KI_API const ki_selector *ki_selector_ref(const ki_selector *selector);
KI_API const ki_selector *ki_selector_unref(const ki_selector *selector);

/** Whether it matches everything, or nothing, whatever the labels are.  Since: 0.1 */
KI_API bool ki_selector_is_everything(const ki_selector *selector);
KI_API bool ki_selector_is_nothing(const ki_selector *selector);

/** Whether the labels of an object match.  Since: 0.1 */
KI_API bool ki_selector_matches(const ki_selector *selector, const ki_object *object);

/** Whether a map of labels matches; KI_TYPE_NONE stands for no labels.  Since: 0.1 */
KI_API bool ki_selector_matches_labels(const ki_selector *selector, const ki_value *labels);

/** Appends the selector as text that parses to the same selector: requirements by key, values
 *  sorted.
 *  Errors: KI_ERR_UNSUPPORTED  it selects nothing, which no text says ("" selects everything);
 *          KI_ERR_LIMIT or -ENOMEM from `out`. On failure `out` is as it was.  Since: 0.1 */
KI_API KI_NODISCARD int ki_selector_print(const ki_selector *selector, ki_buf *out);

typedef struct ki_field_selector ki_field_selector;

/** Parses a field selector, such as "spec.nodeName=n1,status.phase!=Running". "" selects
 *  everything. In a value a backslash goes before ',', '=' and itself.
 *  Owner, Errors: as ki_selector_parse(), but any path and value is valid.  Since: 0.1 */
KI_API KI_NODISCARD int ki_field_selector_parse(ki_str text, const ki_alloc *alloc,
                                                ki_field_selector **ret_selector, ki_error *error);

/** References. ki_field_selector_unref() always returns NULL; NULL is fine for both.  Since: 0.1 */
KI_API const ki_field_selector *ki_field_selector_ref(const ki_field_selector *selector);
KI_API const ki_field_selector *ki_field_selector_unref(const ki_field_selector *selector);

/** Whether it matches everything.  Since: 0.1 */
KI_API bool ki_field_selector_is_everything(const ki_field_selector *selector);

/** Whether the fields of an object match. A field is a dotted path, each step the name of a member.
 *  Numbers and booleans count as their JSON text; null, a map, a list and what is absent as "".
 *  Since: 0.1 */
KI_API bool ki_field_selector_matches(const ki_field_selector *selector, const ki_object *object);

/** The value that `field` must have for anything to match.
 *  Errors: KI_ERR_NOT_FOUND  no term demands one.  Since: 0.1 */
KI_API KI_NODISCARD int ki_field_selector_requires(const ki_field_selector *selector, ki_str field,
                                                   ki_str *ret_value);

/** Appends the selector as text that parses to the same selector: terms sorted, values escaped.
 *  Errors: KI_ERR_LIMIT or -ENOMEM from `out`, which is then as it was.  Since: 0.1 */
KI_API KI_NODISCARD int ki_field_selector_print(const ki_field_selector *selector, ki_buf *out);

KI_END_DECLS

#endif
