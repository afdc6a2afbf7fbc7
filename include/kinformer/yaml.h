/* SPDX-License-Identifier: Apache-2.0 */
/* Reading YAML: manifests as people write them, for ki_object_from_json().
 *
 *   size_t offset = 0;
 *   while ((r = ki_yaml_to_json(text, &offset, &json, &error)) > 0) {
 *       r = ki_object_from_json(json.data, json.len, NULL, &object, &error);
 *       ...
 *       ki_buf_clear(&json);
 *   }
 */
#ifndef KINFORMER_YAML_H
#define KINFORMER_YAML_H

#include <kinformer/buf.h>
#include <kinformer/defs.h>
#include <kinformer/error.h>
#include <kinformer/str.h>

KI_BEGIN_DECLS

/** Appends the next document of a text as JSON, and returns 1; or returns 0 if there is none.
 *  Documents are separated by lines that begin with "---"; empty ones are skipped. *offset is the
 *  position in the text: 0 at first; on success it is moved behind the document. Scalars have the
 *  types of the core schema of YAML 1.2; tags, anchors, aliases, merge keys and duplicate keys are
 *  errors, as are keys that are not scalars. JSON is accepted too, unless it has escapes of
 *  surrogates. Memory is allocated by the allocator of `out`.
 *  Thread: any.  Blocks: no.
 *  Errors: KI_ERR_SYNTAX, KI_ERR_ENCODING, KI_ERR_UNSUPPORTED, KI_ERR_EXISTS, with line and column
 *          in the text;  KI_ERR_DEPTH  more than 128 nested maps and lists;  KI_ERR_LIMIT  262,144
 *          values, or `out` is full;  -ENOMEM. `out` is then unchanged.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_yaml_to_json(ki_str text, size_t *offset, ki_buf *out, ki_error *error);

KI_END_DECLS

#endif
