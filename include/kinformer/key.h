/* SPDX-License-Identifier: Apache-2.0 */
/* Keys ("namespace/name" or "name") and resourceVersions, as text. All functions are thread-safe
 * and never block. */
#ifndef KINFORMER_KEY_H
#define KINFORMER_KEY_H

#include <kinformer/defs.h>
#include <kinformer/str.h>

KI_BEGIN_DECLS

/** Appends the key of a name in a namespace ("" for none) to `out`.
 *  Errors: KI_ERR_KEY  the name is empty, or name or namespace has a '/';  KI_ERR_LIMIT, -ENOMEM.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_key_join(ki_str name_space, ki_str name, ki_buf *out);

/** Splits a key into namespace and name. Both are views into the key; the namespace is empty if
 *  there is none.
 *  Errors: KI_ERR_KEY  no name, or more than one '/'.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_key_split(ki_str key, ki_str *ret_namespace, ki_str *ret_name);

/** Compares two resourceVersions of any length: *ret_order is less than, equal to or greater than
 *  0.
 *  Errors: KI_ERR_INVALID  one is empty, "0", has a leading zero or a character that is not a
 *                          digit: such versions have no order.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_resource_version_compare(ki_str a, ki_str b, int *ret_order);

KI_END_DECLS

#endif
