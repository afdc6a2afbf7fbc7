/* SPDX-License-Identifier: Apache-2.0 */
/* Path, query and Accept header of a request. Every value is percent-encoded, so that none can
 * become another segment of the path or another parameter (RFC 3986, section 2.3). */
#include <errno.h>
#include <string.h>

#include "base/ascii.h"
#include "base/digits.h"
#include "base/error.h"
#include "base/time_units.h"
#include "rest/http.h"

enum { NAME_MAX_BYTES = 253 };

static bool is_unreserved(char c)
{
    return ki__is_letter(c) || ki__is_digit(c) || c == '-' || c == '.' || c == '_' || c == '~';
}

static int add_encoded(ki_buf *out, const char *text)
{
    static const char digits[] = "0123456789ABCDEF";
    int r = 0;
    for (; *text != '\0' && r == 0; text++) {
        unsigned char c = (unsigned char)*text;
        if (is_unreserved(*text)) {
            r = ki_buf_add_char(out, *text);
        } else {
            const char escape[] = {'%', digits[c >> 4], digits[c & 15]};
            r = ki_buf_add(out, escape, sizeof(escape));
        }
    }
    return r;
}

/* ---- the path ---- */

/* client-go rejects the same names: they would change the path. */
static int check_name(const char *what, const char *name, ki_error *error)
{
    if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0) {
        return ki__error_set(error, KI_ERR_INVALID, "%s: must not be \"%s\"", what, name);
    }
    if (strpbrk(name, "/%") != NULL) {
        return ki__error_set(error, KI_ERR_INVALID, "%s: must not contain '/' or '%%'", what);
    }
    if (strlen(name) > NAME_MAX_BYTES) {
        return ki__error_set(error, KI_ERR_INVALID, "%s: longer than %d bytes", what,
                             NAME_MAX_BYTES);
    }
    return 0;
}

/* Appends the nonempty segments. */
static int add_segments(ki_buf *out, const char *const *segments, size_t count)
{
    int r = 0;
    for (size_t i = 0; i < count && r == 0; i++) {
        if (segments[i][0] != '\0') {
            r = ki_buf_add_char(out, '/');
        }
        if (r == 0) {
            r = add_encoded(out, segments[i]);
        }
    }
    return r;
}

/* Checks the names given by the caller. */
static int check_names(const ki_resource *resource, const char *name_space, const char *name,
                       const char *subresource, ki_error *error)
{
    if (name_space[0] != '\0' && !ki_resource_is_namespaced(resource)) {
        return ki__error_set(error, KI_ERR_INVALID, "%s are not namespaced",
                             ki_resource_name(resource));
    }
    int r = check_name("namespace", name_space, error);
    if (r == 0) {
        r = check_name("name", name, error);
    }
    return r == 0 ? check_name("subresource", subresource, error) : r;
}

int ki__http_path(const ki_resource *resource, const char *name_space, const char *name,
                  const char *subresource, ki_buf *out, ki_error *error)
{
    int r = check_names(resource, name_space, name, subresource, error);
    if (r < 0) {
        return r;
    }
    const char *group = ki_resource_group(resource);
    const char *const segments[] = {
        group[0] == '\0' ? "api" : "apis",
        group,
        ki_resource_version(resource),
        name_space[0] != '\0' ? "namespaces" : "",
        name_space,
        ki_resource_name(resource),
        name,
        subresource,
    };
    r = add_segments(out, segments, sizeof(segments) / sizeof(segments[0]));
    return r < 0 ? ki__error_code(error, r) : 0;
}

/* ---- the query ---- */

void ki__http_add_parameter(ki_buf *out, const char *name, const char *value, int *r)
{
    if (value == NULL || value[0] == '\0' || *r < 0) {
        return;
    }
    *r = out->len != 0 ? ki_buf_add_char(out, '&') : 0;
    if (*r == 0) {
        *r = ki_buf_add_text(out, name);
    }
    if (*r == 0) {
        *r = ki_buf_add_char(out, '=');
    }
    if (*r == 0) {
        *r = add_encoded(out, value);
    }
}

static void add_number(ki_buf *out, const char *name, uint32_t value, int *r)
{
    char room[KI__DIGITS_SIZE];
    if (value != 0) {
        ki__http_add_parameter(out, name, ki__digits(value, room).ptr, r);
    }
}

/* Sorted by name, as in Go. */
int ki__http_query(const ki_list_options *o, bool watch, ki_buf *out, ki_error *error)
{
    int r = 0;
    ki__http_add_parameter(out, "allowWatchBookmarks", watch && o->allow_bookmarks ? "true" : "",
                           &r);
    ki__http_add_parameter(out, "continue", o->continue_token, &r);
    ki__http_add_parameter(out, "fieldSelector", o->field_selector, &r);
    ki__http_add_parameter(out, "labelSelector", o->label_selector, &r);
    add_number(out, "limit", o->limit, &r);
    ki__http_add_parameter(out, "resourceVersion", o->resource_version, &r);
    ki__http_add_parameter(out, "resourceVersionMatch", o->resource_version_match, &r);
    ki__http_add_parameter(out, "sendInitialEvents", watch && o->send_initial_events ? "true" : "",
                           &r);
    ki__http_add_parameter(out, "shardSelector", o->shard_selector, &r);
    add_number(out, "timeoutSeconds", ki__ms_to_seconds(o->timeout_ms), &r);
    ki__http_add_parameter(out, "watch", watch ? "true" : "", &r);
    if (r == KI_ERR_LIMIT) {
        return ki__error_set(error, r, "query longer than %zu bytes", out->max);
    }
    return r < 0 ? ki__error_code(error, r) : 0;
}

/* ---- Accept ---- */

#define JSON "application/json"
#define PROTOBUF "application/vnd.kubernetes.protobuf"
#define META_LIST ";as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
#define META ";as=PartialObjectMetadata;g=meta.k8s.io;v=v1"

const char *ki__http_accept(bool protobuf, bool metadata, bool watch)
{
    if (!metadata) {
        return protobuf ? PROTOBUF "," JSON : JSON;
    }
    if (watch) {
        return protobuf ? PROTOBUF META "," JSON META "," JSON : JSON META "," JSON;
    }
    return protobuf ? PROTOBUF META_LIST "," JSON META_LIST "," JSON : JSON META_LIST "," JSON;
}
