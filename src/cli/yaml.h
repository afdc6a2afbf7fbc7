/* SPDX-License-Identifier: Apache-2.0 */
/* Values as YAML, in the block style of kubectl. */
#ifndef KI_CLI_YAML_H
#define KI_CLI_YAML_H

#include <kinformer/buf.h>
#include <kinformer/object.h>
#include <kinformer/value.h>

/** Appends a value as YAML that parses back to the same JSON, under YAML 1.1 and 1.2 alike. Members
 *  keep their order. Harmful characters (see cli_put_escaped()) are escaped. Each line is indented
 *  by `indent` spaces; with `in_item` except for the first, which follows "- ". */
void cli_put_yaml(ki_buf *out, const ki_value *value, size_t indent, bool in_item);

/** The same for an object, with its kind and apiVersion. */
void cli_put_object_yaml(ki_buf *out, const ki_object *object, size_t indent, bool in_item);

#endif
