/* SPDX-License-Identifier: Apache-2.0 */
/* Projecting protobuf messages. */
#ifndef KI_OBJECT_PROJECTION_PROTO_PROJECT_H
#define KI_OBJECT_PROJECTION_PROTO_PROJECT_H

#include "object/projection/keep_tree.h"
#include "object/proto/schema.h"

/** Writes what is kept of a message to `out`, which holds `body.len` bytes. The bytes are
 *  unvalidated: only what is needed to find the kept fields is checked, and the result must be
 *  validated. False if the bytes are malformed. */
bool ki__proto_project(ki_str body, const ki__schema_message *message, const ki__keep_node *node,
                       char *out, size_t *ret_len);

#endif
