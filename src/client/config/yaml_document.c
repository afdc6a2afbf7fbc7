/* SPDX-License-Identifier: Apache-2.0 */
/* YAML documents as JSON: one, or all documents of a text one by one. */
#include <errno.h>

#include <kinformer/yaml.h>

#include "base/error.h"
#include "client/config/kubeconfig.h"

/* A line "---" starts a document, even inside a block scalar. */
static bool is_separator(ki_str rest)
{
    if (rest.len < 3 || memcmp(rest.ptr, "---", 3) != 0) {
        return false;
    }
    return rest.len == 3 || rest.ptr[3] == '\n' || rest.ptr[3] == '\r' || rest.ptr[3] == ' ' ||
           rest.ptr[3] == '\t';
}

/* Length of the document at the beginning of a nonempty text, including the separator before it. */
static size_t document_length(ki_str text)
{
    size_t i = 0;
    do {
        const char *end = memchr(text.ptr + i, '\n', text.len - i);
        i = end != NULL ? (size_t)(end - text.ptr) + 1 : text.len;
    } while (i < text.len && !is_separator(ki_str_make(text.ptr + i, text.len - i)));
    return i;
}

static uint32_t count_lines(const char *begin, const char *end)
{
    uint32_t lines = 0;
    for (; (begin = memchr(begin, '\n', (size_t)(end - begin))) != NULL; begin++) {
        lines++;
    }
    return lines;
}

int ki__yaml_document_to_json(const ki_alloc *alloc, ki_str document, uint32_t line, ki_buf *out,
                              ki_error *error)
{
    ki__yaml yaml;
    ki_str json;
    ki__secrets secrets;
    uint32_t bad_line = 0;
    int r = ki__yaml_read(document, KI__YAML_DEPTH_MAX, alloc, &yaml, error);
    if (r < 0) {
        if (error != NULL) {
            error->line += line;
        }
        return r;
    }
    ki__secrets_init(&secrets, alloc);
    if (yaml.root != KI__YAML_NONE && !ki__yaml_is_null(ki__yaml_at(&yaml, yaml.root))) {
        r = ki__yaml_to_json(&yaml, yaml.root, &secrets, &json, &bad_line);
        if (r == KI_ERR_UNSUPPORTED) {
            (void)ki__error_set(error, r, "line %u: number cannot be represented in JSON",
                                bad_line + line);
        } else if (r == 0) {
            r = ki_buf_add_str(out, json);
        }
    }
    ki__secrets_done(&secrets);
    ki__yaml_done(&yaml);
    return r;
}

int ki_yaml_to_json(ki_str text, size_t *offset, ki_buf *out, ki_error *error)
{
    KI__REQUIRE(offset, error);
    KI__REQUIRE(out, error);
    size_t before = out->len;
    size_t at = *offset;
    while (at < text.len) {
        ki_str document = ki_str_make(text.ptr + at, text.len - at);
        document.len = document_length(document);
        int r = ki__yaml_document_to_json(out->alloc, document, 0, out, error);
        if (r < 0 && r != -ENOMEM && error != NULL) {
            /* Once more for the error, which has the line: all documents before would have to be
             * counted each time. */
            r = ki__yaml_document_to_json(out->alloc, document, count_lines(text.ptr, document.ptr),
                                          out, error);
            error->offset += at;
        }
        if (r < 0) {
            return r;
        }
        at += document.len;
        if (out->len != before) {
            *offset = at;
            return 1;
        }
    }
    return 0;
}
