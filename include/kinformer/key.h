/* SPDX-License-Identifier: Apache-2.0 */
/* Keys ("namespace/name" or "name") and resource versions, as text.
 * All functions may be called on any thread and never block. */
#ifndef KINFORMER_KEY_H
#define KINFORMER_KEY_H

#include <kinformer/buf.h>
#include <kinformer/defs.h>
#include <kinformer/str.h>

KI_BEGIN_DECLS

/** Appends the key of a name in a namespace ("" for none) to `out`.
 *  Errors: KI_ERR_KEY  the name is empty, or one of both has a '/';  KI_ERR_LIMIT, -ENOMEM.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_key_join(ki_str name_space, ki_str name, ki_buf *out);

/** Splits a key; both results are views into it, the namespace empty if there is none.
 *  Errors: KI_ERR_KEY  no name, or more than one '/'.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_key_split(ki_str key, ki_str *ret_namespace, ki_str *ret_name);

/** Compares two resource versions of any length: *ret_order is less than, equal to or more than 0.
 *  Errors: KI_ERR_INVALID  one is empty, "0", has a leading zero or anything but digits: such
 *          versions have no order.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_resource_version_compare(ki_str a, ki_str b, int *ret_order);

KI_END_DECLS

#endif
