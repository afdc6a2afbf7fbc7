/* SPDX-License-Identifier: Apache-2.0 */
/* Builds requests from two tables: the members that each verb accepts and requires, and the names
 * of the members. Members that a verb does not support are rejected, since ignoring them silently
 * would hide mistakes. */
#include "rest/request_build.h"

#include <errno.h>
#include <string.h>

#include <kinformer/resource_table.h>

#include "base/error.h"
#include "base/options.h"
#include "base/secret.h"
#include "object/object.h"
#include "rest/http.h"
#include "rest/request_body.h"
#include "wire/media_type.h"

enum { TEXT_MAX_BYTES = 64 << 10, QUERY_MAX_BYTES = 2 << 20, BODY_MAX_BYTES = 64 << 20 };

/* ---- the members ---- */

typedef enum member {
    RESOURCE,
    NAME_SPACE,
    NAME,
    SUBRESOURCE,
    OBJECT,
    BODY,
    MANAGER,
    VALIDATION,
    FORCE,
    DRY_RUN,
    SELECTION,
    VERSION,
    DELETION,
    CONDITION,
    JSON,
    PATH,
    RAW,
    MEMBER_MAX
} member;

static const char *const member_names[MEMBER_MAX] = {
    [RESOURCE] = "resource",
    [NAME_SPACE] = "name_space",
    [NAME] = "name",
    [SUBRESOURCE] = "subresource",
    [OBJECT] = "object",
    [BODY] = "body",
    [MANAGER] = "field_manager",
    [VALIDATION] = "field_validation",
    [FORCE] = "force",
    [DRY_RUN] = "dry_run",
    [SELECTION] = "list options (selectors, limit)",
    [VERSION] = "resource_version",
    [DELETION] = "delete options (grace_ms, propagation)",
    [CONDITION] = "preconditions (uid, resource_version)",
    [JSON] = "json",
    [PATH] = "path",
    [RAW] = "method, query or media type",
};

#define BIT(member) (UINT32_C(1) << (member))

static bool has(const char *text)
{
    return text != NULL && text[0] != '\0';
}

static uint32_t list_members(const ki_list_options *o)
{
    bool selection = has(o->label_selector) || has(o->field_selector) || has(o->shard_selector) ||
                     has(o->resource_version_match) || has(o->continue_token) || o->limit != 0 ||
                     o->timeout_ms != 0 || o->allow_bookmarks || o->send_initial_events;
    return (selection ? BIT(SELECTION) : 0) | (has(o->resource_version) ? BIT(VERSION) : 0);
}

/* Bit mask of the members that are set. */
static uint32_t given(const ki_request *q)
{
    const bool set[MEMBER_MAX] = {
        [RESOURCE] = q->resource != NULL,
        [NAME_SPACE] = has(q->name_space),
        [NAME] = has(q->name),
        [SUBRESOURCE] = has(q->subresource),
        [OBJECT] = q->object != NULL,
        [BODY] = q->body.len != 0,
        [MANAGER] = has(q->field_manager),
        [VALIDATION] = has(q->field_validation),
        [FORCE] = q->force,
        [DRY_RUN] = q->dry_run,
        [DELETION] = q->propagation != KI_PROPAGATION_DEFAULT || q->at_once || q->grace_ms != 0,
        [CONDITION] = has(q->uid) || has(q->if_version),
        [JSON] = q->json,
        [PATH] = has(q->path),
        [RAW] = has(q->method) || has(q->query) || has(q->accept) || has(q->content_type),
    };
    uint32_t bits = list_members(q->list);
    for (size_t i = 0; i < MEMBER_MAX; i++) {
        bits |= set[i] ? BIT(i) : 0;
    }
    return bits;
}

/* ---- the verbs ---- */

typedef struct verb {
    const char *name;
    const char *method;
    uint32_t takes;
    uint32_t needs; /* subset of them */
    ki__expect expect;
    bool named;  /* the path names an object */
    bool writes; /* takes an object, or JSON instead */
    bool patch;
} verb;

#define PLACE (BIT(RESOURCE) | BIT(NAME_SPACE) | BIT(JSON))
#define ONE (PLACE | BIT(NAME) | BIT(SUBRESOURCE))
#define WRITE (ONE | BIT(OBJECT) | BIT(BODY) | BIT(MANAGER) | BIT(VALIDATION) | BIT(DRY_RUN))
#define CHOICE (BIT(SELECTION) | BIT(VERSION))
#define DELETE (BIT(DELETION) | BIT(CONDITION) | BIT(DRY_RUN))

static const verb verbs[KI_VERB_MAX] = {
    [KI_VERB_GET] = {"get", "GET", ONE | BIT(VERSION), BIT(RESOURCE), KI__EXPECT_OBJECT,
                     .named = true},
    [KI_VERB_LIST] = {"list", "GET", PLACE | CHOICE, BIT(RESOURCE), KI__EXPECT_LIST},
    [KI_VERB_CREATE] = {"create", "POST", WRITE, BIT(RESOURCE), KI__EXPECT_OBJECT, .writes = true},
    [KI_VERB_UPDATE] = {"update", "PUT", WRITE, BIT(RESOURCE), KI__EXPECT_OBJECT, .named = true,
                        .writes = true},
    [KI_VERB_PATCH] = {"patch", "PATCH", WRITE & ~BIT(OBJECT), BIT(RESOURCE) | BIT(BODY),
                       KI__EXPECT_OBJECT, .named = true, .patch = true},
    [KI_VERB_APPLY] = {"apply", "PATCH", WRITE | BIT(FORCE), BIT(RESOURCE) | BIT(MANAGER),
                       KI__EXPECT_OBJECT, .named = true, .writes = true, .patch = true},
    [KI_VERB_DELETE] = {"delete", "DELETE", ONE | DELETE, BIT(RESOURCE),
                        KI__EXPECT_OBJECT_OR_NOTHING, .named = true},
    [KI_VERB_DELETE_COLLECTION] = {"delete of a collection", "DELETE", PLACE | CHOICE | DELETE,
                                   BIT(RESOURCE), KI__EXPECT_LIST_OR_STATUS},
    [KI_VERB_RAW] = {"raw request", "GET", BIT(PATH) | BIT(RAW) | BIT(BODY), BIT(PATH),
                     KI__EXPECT_BYTES},
};

static const char *member_name(uint32_t bits)
{
    return member_names[__builtin_ctz(bits)];
}

static int check_members(const verb *v, const ki_request *q, ki_error *error)
{
    uint32_t bits = given(q);
    uint32_t extra = bits & ~v->takes;
    uint32_t missing = v->needs & ~bits;
    if (extra != 0) {
        return ki__error_set(error, -EINVAL, "%s: must not have %s", v->name, member_name(extra));
    }
    if (missing != 0) {
        return ki__error_set(error, -EINVAL, "%s: requires %s", v->name, member_name(missing));
    }
    if (q->list->projection != NULL) {
        return ki__error_set(error, -EINVAL, "%s: must not have list.projection", v->name);
    }
    if (v->writes && (q->object != NULL) == (q->body.len != 0)) {
        return ki__error_set(error, -EINVAL, "%s: exactly one of object and body must be set",
                             v->name);
    }
    if (q->verb == KI_VERB_CREATE && has(q->name) && !has(q->subresource)) {
        return ki__error_set(error, -EINVAL, "create: name must not be set; it is in the object");
    }
    return 0;
}

static int check_values(const ki_request *q, ki_error *error)
{
    if ((unsigned)q->patch_type >= KI_PATCH_MAX || (unsigned)q->propagation >= KI_PROPAGATION_MAX) {
        return ki__error_set(error, -EINVAL, "patch_type or propagation: unknown value");
    }
    if (q->at_once && q->grace_ms != 0) {
        return ki__error_set(error, -EINVAL, "at_once and grace_ms are mutually exclusive");
    }
    return 0;
}

/* ---- the path ---- */

/* Whether the path ends with an object name. */
static bool is_named(const verb *v, const ki_request *q)
{
    return v->named || has(q->subresource);
}

static const char *or_empty(const char *text)
{
    return text != NULL ? text : "";
}

static const char *name_of(const ki_request *q)
{
    if (!has(q->name) && q->object != NULL) {
        return ki_object_name(q->object);
    }
    return or_empty(q->name);
}

/* Lists cover all namespaces by default; requests for one object need a namespace. */
static const char *name_space_of(const verb *v, const ki_request *q, const char *otherwise)
{
    if (has(q->name_space) || !ki_resource_is_namespaced(q->resource)) {
        return or_empty(q->name_space);
    }
    if (q->object != NULL && ki_object_namespace(q->object)[0] != '\0') {
        return ki_object_namespace(q->object);
    }
    bool one = is_named(v, q) || v->writes;
    return one ? otherwise : "";
}

static int build_path(ki__built *built, const verb *v, const ki_request *q, const char *otherwise,
                      ki_error *error)
{
    const char *name = is_named(v, q) ? name_of(q) : "";
    const char *name_space = name_space_of(v, q, otherwise);
    if (is_named(v, q) && name[0] == '\0') {
        return ki__error_set(error, -EINVAL, "%s: name must be set", v->name);
    }
    if (q->verb == KI_VERB_DELETE_COLLECTION && name_space[0] == '\0' &&
        ki_resource_is_namespaced(q->resource)) {
        return ki__error_set(error, -EINVAL,
                             "delete of a collection: name_space must be set for %s",
                             ki_resource_name(q->resource));
    }
    int r = ki_buf_add_text(&built->name, name);
    if (r < 0) {
        return ki__error_set(error, r, "name: %s", ki_error_text(r));
    }
    return ki__http_path(q->resource, name_space, name, or_empty(q->subresource), &built->path,
                         error);
}

/* ---- the query ---- */

/* The dry run of a deletion is in its body. */
static int build_query(ki__built *built, const verb *v, const ki_request *q, ki_error *error)
{
    bool deletes = (v->takes & BIT(DELETION)) != 0;
    int r = 0;
    if (list_members(q->list) != 0) {
        r = ki__http_query(q->list, false, &built->query, error);
    }
    if (r < 0) {
        return r;
    }
    ki__http_add_parameter(&built->query, "dryRun", q->dry_run && !deletes ? "All" : "", &r);
    ki__http_add_parameter(&built->query, "fieldManager", q->field_manager, &r);
    ki__http_add_parameter(&built->query, "fieldValidation", q->field_validation, &r);
    ki__http_add_parameter(&built->query, "force", q->force ? "true" : "", &r);
    return r < 0 ? ki__error_set(error, r, "query: %s", ki_error_text(r)) : 0;
}

/* ---- headers and body ---- */

static int build_body(ki__built *built, const verb *v, const ki_request *q, ki_error *error)
{
    static const char *const patch_types[KI_PATCH_MAX] = {
        [KI_PATCH_MERGE] = "application/merge-patch+json",
        [KI_PATCH_STRATEGIC] = "application/strategic-merge-patch+json",
        [KI_PATCH_JSON] = "application/json-patch+json",
    };
    const char *type = KI__MEDIA_TYPE_JSON;
    int r = q->object != NULL ? ki__object_require_whole(q->object, error) : 0;
    if (r < 0) {
        return r;
    }
    if ((v->takes & BIT(DELETION)) != 0) {
        r = ki__body_of_deletion(q, &built->body);
    } else if (q->object != NULL) {
        bool json = v->patch || ki_object_encoding(q->object) == KI_ENCODING_JSON;
        type = json ? KI__MEDIA_TYPE_JSON : KI__MEDIA_TYPE_PROTOBUF;
        r = json ? ki__body_of_object(q->object, &built->body)
                 : ki_object_write_protobuf(q->object, &built->body, error);
    } else {
        r = ki_buf_add_str(&built->body, q->body);
    }
    if (r < 0) {
        return ki__error_set(error, r, "body: %s", ki_error_text(r));
    }
    if (v->patch) {
        type = v->writes ? "application/apply-patch+yaml" : patch_types[q->patch_type];
    }
    type = has(q->content_type) ? q->content_type : type;
    r = built->body.len != 0 ? ki_buf_add_text(&built->content_type, type) : 0;
    return r < 0 ? ki__error_set(error, r, "media type: %s", ki_error_text(r)) : 0;
}

static int build_head(ki__built *built, const verb *v, const ki_request *q, ki_error *error)
{
    bool protobuf = q->resource != NULL && !q->json && ki_resource_has_protobuf(q->resource);
    const char *accept = has(q->accept) ? q->accept : ki__http_accept(protobuf, false, false);
    int r = ki_buf_add_text(&built->method, has(q->method) ? q->method : v->method);
    if (r == 0) {
        r = ki_buf_add_text(&built->accept, accept);
    }
    if (r < 0) {
        return ki__error_set(error, r, "request headers: %s", ki_error_text(r));
    }
    const char *method = ki_buf_text(&built->method);
    built->safe = strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0;
    return 0;
}

/* ---- the request ---- */

static int build_raw(ki__built *built, const ki_request *q, ki_error *error)
{
    if (q->path[0] != '/') {
        return ki__error_set(error, -EINVAL, "path: must begin with '/'");
    }
    int r = ki_buf_add_text(&built->path, q->path);
    if (r == 0) {
        r = ki_buf_add_text(&built->query, q->query);
    }
    return r < 0 ? ki__error_set(error, r, "path: %s", ki_error_text(r)) : 0;
}

static int build(ki__built *built, const ki_request *q, const char *name_space, ki_error *error)
{
    const verb *v = &verbs[q->verb];
    int r = check_members(v, q, error);
    if (r == 0) {
        r = check_values(q, error);
    }
    if (r < 0) {
        return r;
    }
    built->resource = ki_resource_ref(q->resource);
    built->expect = v->expect;
    built->whole = !has(q->subresource);
    built->no_retry = q->no_retry;
    built->later_page = q->verb == KI_VERB_LIST && ki__http_is_later_page(q->list);
    built->timeout_ms = q->timeout_ms;
    if (q->verb == KI_VERB_RAW) {
        r = build_raw(built, q, error);
    } else {
        r = build_path(built, v, q, name_space, error);
        if (r == 0) {
            r = build_query(built, v, q, error);
        }
    }
    if (r == 0) {
        r = build_head(built, v, q, error);
    }
    return r == 0 ? build_body(built, v, q, error) : r;
}

int ki__built_make(ki__built *built, const ki_alloc *alloc, const ki_request *request,
                   const char *name_space, ki_error *error)
{
    *built = (ki__built){.alloc = alloc};
    ki_buf_init(&built->method, alloc, TEXT_MAX_BYTES);
    ki_buf_init(&built->path, alloc, TEXT_MAX_BYTES);
    ki_buf_init(&built->query, alloc, QUERY_MAX_BYTES);
    ki_buf_init(&built->accept, alloc, TEXT_MAX_BYTES);
    ki_buf_init(&built->content_type, alloc, TEXT_MAX_BYTES);
    ki_buf_init(&built->body, alloc, BODY_MAX_BYTES);
    ki_buf_init(&built->name, alloc, TEXT_MAX_BYTES);
    ki_request q = {0};
    ki_list_options list = {0};
    int r = KI__TAKE(ki_request, &q, request, error);
    if (r == 0) {
        r = KI__TAKE(ki_list_options, &list, q.list, error);
    }
    if (r < 0) {
        return r;
    }
    q.list = &list;
    if ((unsigned)q.verb >= KI_VERB_MAX) {
        return ki__error_set(error, -EINVAL, "verb: unknown value");
    }
    return build(built, &q, name_space, error);
}

void ki__built_done(ki__built *built)
{
    built->resource = ki_resource_unref(built->resource);
    ki__wipe(built->body.data, built->body.len);
    ki_buf *const bufs[] = {&built->method,       &built->path, &built->query, &built->accept,
                            &built->content_type, &built->body, &built->name};
    for (size_t i = 0; i < sizeof(bufs) / sizeof(bufs[0]); i++) {
        ki_buf_done(bufs[i]);
    }
}

ki_http_request ki__built_request(const ki__built *built, ki_http_header headers[KI__BUILT_HEADERS])
{
    headers[0] = (ki_http_header){ki_str_from("Accept"), ki_buf_str(&built->accept)};
    headers[1] = (ki_http_header){ki_str_from("Content-Type"), ki_buf_str(&built->content_type)};
    return (ki_http_request){
        .size = sizeof(ki_http_request),
        .method = ki_buf_text(&built->method),
        .path = ki_buf_text(&built->path),
        .query = ki_buf_text(&built->query),
        .headers = headers,
        .header_count = built->content_type.len != 0 ? 2 : 1,
        .body = ki_buf_str(&built->body),
        .later_page = built->later_page,
    };
}
