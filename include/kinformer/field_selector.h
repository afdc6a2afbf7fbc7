/* SPDX-License-Identifier: Apache-2.0 */
/* Field selectors: parsed once, immutable, matched against any object. Servers support only a few
 * fields; here any field can be used. All functions are thread-safe and never block. */
#ifndef KINFORMER_FIELD_SELECTOR_H
#define KINFORMER_FIELD_SELECTOR_H

#include <kinformer/buf.h>
#include <kinformer/defs.h>
#include <kinformer/error.h>
#include <kinformer/object.h>
#include <kinformer/str.h>

KI_BEGIN_DECLS

typedef struct ki_field_selector ki_field_selector;

/** Parses a field selector, such as "spec.nodeName=n1,status.phase!=Running". "" matches
 *  everything. In a value, ',', '=' and '\' are escaped with a backslash.
 *  Owner, Errors: as ki_selector_parse(), but any path and value is valid.  Since: 0.1 */
KI_API KI_NODISCARD int ki_field_selector_parse(const char *text, const ki_alloc *alloc,
                                                ki_field_selector **ret_selector, ki_error *error);

/** Takes and releases references. ki_field_selector_unref() always returns NULL; both accept NULL.
 *  Since: 0.1 */
KI_API ki_field_selector *ki_field_selector_ref(const ki_field_selector *selector);
KI_API ki_field_selector *ki_field_selector_unref(const ki_field_selector *selector);

/** Returns whether a field selector matches everything.  Since: 0.1 */
KI_API bool ki_field_selector_is_everything(const ki_field_selector *selector);

/** Returns whether the fields of an object match. A field is a dotted path of member names. Numbers
 *  and booleans are compared as their JSON text; null, maps, lists and absent fields as "".
 *  Since: 0.1 */
KI_API bool ki_field_selector_matches(const ki_field_selector *selector, const ki_object *object);

/** Returns the value that `field` must have for an object to match.
 *  Errors: KI_ERR_NOT_FOUND  no term requires a value.  Since: 0.1 */
KI_API KI_NODISCARD int ki_field_selector_requires(const ki_field_selector *selector,
                                                   const char *field, ki_str *ret_value);

/** Appends a field selector in text form: terms sorted, values escaped. Parsing the text results in
 *  the same selector.
 *  Errors: KI_ERR_LIMIT or -ENOMEM from `out`, which is then unchanged.  Since: 0.1 */
KI_API KI_NODISCARD int ki_field_selector_print(const ki_field_selector *selector, ki_buf *out);

KI_AUTO_DEFINE(ki_field_selector, ki_field_selector_unref)

KI_END_DECLS

#endif
