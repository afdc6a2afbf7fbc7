/* SPDX-License-Identifier: Apache-2.0 */
/* Templates of HTML, filled with the members of a JSON value. Text is always escaped.
 *
 *   {{name}}            the member `name` of the current map, or of one around it
 *   {{name|filter}}     in another form; see html_template.c
 *   {{#name}}...{{/name}}  once for each element of a list, which becomes the current map; or once
 *                       if the value is not false, null, 0, "" or empty
 *   {{^name}}...{{/name}}  once if it is, or is absent
 *   {{.}}               the current element itself */
#ifndef KI_MONITOR_SERVER_HTML_TEMPLATE_H
#define KI_MONITOR_SERVER_HTML_TEMPLATE_H

#include <kinformer/buf.h>
#include <kinformer/error.h>
#include <kinformer/value.h>

/** Appends the filled template.
 *  Errors: KI_ERR_INVALID  the template is malformed;  KI_ERR_DEPTH;  KI_ERR_LIMIT, -ENOMEM. After
 *          an error `out` has its previous content. */
int ki__html_render(ki_str template, const ki_value *root, ki_buf *out);

/** Appends text with everything escaped that HTML or a reader could mistake: markup, control
 *  characters, and characters that change the direction of text, which are shown as U+202E. */
int ki__html_escape(ki_str text, ki_buf *out);

#endif
