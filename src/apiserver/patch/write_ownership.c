/* SPDX-License-Identifier: Apache-2.0 */
/* Field ownership for requests: managedFields of updates, and applies with their conflicts. As in
 * kube-apiserver, updating an object without managedFields does not add them; applying to it
 * does. */
#include <errno.h>

#include "apiserver/negotiate.h"
#include "apiserver/patch/last_applied.h"
#include "apiserver/patch/server_side_apply.h"
#include "apiserver/validate/custom_objects.h"
#include "apiserver/verbs/write_common.h"
#include "base/alloc.h"
#include "base/digits.h"
#include "base/utf8.h"
#include "object/edit/json_out.h"
#include "object/value.h"

/* ---- the writer ---- */

static const char *subresource(const ki__api_exchange *x)
{
    return x->own_subresource != NULL ? x->own_subresource : x->route.subresource;
}

static bool is_scale(const ki__api_exchange *x)
{
    return strcmp(subresource(x), "scale") == 0;
}

/* The manager is the fieldManager parameter, or the program in User-Agent without its version. */
static void name_manager(const ki__api_exchange *x, ki__manager *who)
{
    ki_str agent = ki__api_request_header(x->request, "user-agent");
    const char *slash = agent.len != 0 ? memchr(agent.ptr, '/', agent.len) : NULL;
    agent.len = slash != NULL ? (size_t)(slash - agent.ptr) : agent.len;
    ki__manager_set_name(
        who, x->route.field_manager[0] != '\0' ? ki_str_from(x->route.field_manager) : agent);
}

static void copy_text(char *to, size_t size, const char *from)
{
    size_t len = strlen(from);
    len = len < size ? len : size - 1;
    memcpy(to, from, len);
    to[len] = '\0';
}

static void describe_write(const ki__api_exchange *x, bool applies, ki__apply_write *write)
{
    const ki_resource *resource = x->type->resource;
    ki_value schema = {0};
    (void)ki__api_type_schema(x->shown, &schema);
    *write = (ki__apply_write){
        .type = x->type->builtin
                    ? ki__merge_type_builtin(ki_str_from(ki_resource_api_version(resource)),
                                             ki_str_from(ki_resource_kind(resource)))
                    : ki__merge_type_custom(schema),
        .part = strcmp(x->route.subresource, "status") == 0 ? KI__APPLY_STATUS
                : x->type->options.has_status && !x->server->options.whole_objects ? KI__APPLY_MAIN
                                                                                   : KI__APPLY_ALL,
        .force = x->route.force == KI__API_TRUE,
        .who = {.applies = applies, .has_time = true, .time = ki__api_model_seconds(x->model)},
    };
    /* Writes through scale do not change times. */
    write->who.has_time = !is_scale(x);
    name_manager(x, &write->who);
    copy_text(write->who.api_version, sizeof(write->who.api_version),
              ki_resource_api_version(x->shown->resource));
    copy_text(write->who.subresource, sizeof(write->who.subresource), subresource(x));
}

static bool is_printable(const char *text)
{
    ki_str rest = ki_str_from(text);
    while (rest.len != 0) {
        size_t len = ki__utf8_length(rest);
        unsigned char c = (unsigned char)rest.ptr[0];
        if (len == 0 || c < 0x20 || c == 0x7f) {
            return false;
        }
        rest = ki_str_make(rest.ptr + len, rest.len - len);
    }
    return true;
}

int ki__api_check_options(ki__api_exchange *x)
{
    static const ki__api_cause required = {
        "FieldValueRequired", "Required value: is required for apply patch", "fieldManager"};
    static const ki__api_cause forbidden = {
        "FieldValueForbidden", "Forbidden: may not be specified for non-apply patch", "force"};
    static const ki__api_cause too_long = {
        "FieldValueTooLong", "Too long: may not be more than 128 bytes", "fieldManager"};
    static const ki__api_cause invalid = {"FieldValueInvalid",
                                          "Invalid value: should only contain printable characters",
                                          "fieldManager"};
    bool applies = ki__api_is_apply(x);
    const char *manager = x->route.field_manager;
    const ki__api_cause *cause = NULL;
    if (applies && manager[0] == '\0') {
        cause = &required;
    } else if (x->verb == KI__API_PATCH && !applies && x->route.force != KI__API_UNSET) {
        cause = &forbidden;
    } else if (strlen(manager) > KI__MANAGER_NAME_MAX) {
        cause = &too_long;
    } else if (!is_printable(manager)) {
        cause = &invalid;
    }
    return cause != NULL ? ki__api_fail_option(x, cause) : ki__api_check_field_validation(x);
}

/* ---- managedFields ---- */

static ki_value managed_fields(const ki_object *object)
{
    ki_value root = object != NULL ? ki_object_root(object) : (ki_value){0};
    ki_value metadata = ki__value_child(&root, "metadata");
    return ki__value_child(&metadata, "managedFields");
}

/* Decodes the managedFields of an object; unusable ones count as absent. */
static int read_managers(const ki_value *list, ki__managers *managers)
{
    const ki_alloc *alloc = managers->alloc;
    int r = ki__managers_read(managers, list);
    if (r == KI_ERR_INVALID || r == KI_ERR_LIMIT) {
        ki__managers_done(managers);
        ki__managers_init(managers, alloc);
        r = 0;
    }
    return r;
}

static int keep_managers(ki__api_exchange *x, ki__managers *managers)
{
    ki__buf_truncate(&x->managed, 0);
    x->managed_known = true;
    return ki__managers_write(managers, &x->managed);
}

/* Those of the body, unless it is a partial object or has none; otherwise those of the old
 * object. */
static int find_managers(const ki__api_exchange *x, const ki_value *in_body, const ki_value *in_old,
                         ki__managers *managers)
{
    int r = 0;
    if (subresource(x)[0] == '\0') {
        if (ki__managers_is_reset(in_body)) {
            return 0;
        }
        r = read_managers(in_body, managers);
    }
    return r < 0 || managers->count != 0 ? r : read_managers(in_old, managers);
}

/* Whether ownership is not tracked: managedFields are stored as sent. */
static bool is_untracked(const ki__api_exchange *x, const ki_value *in_body, const ki_value *in_old,
                         bool is_new)
{
    bool has_old = ki_value_type(in_old) == KI_TYPE_LIST;
    bool has_body = ki_value_type(in_body) == KI_TYPE_LIST;
    if (x->server->options.whole_objects && has_body) {
        return true;
    }
    return !x->server->options.tracks_fields && (is_new || !has_old);
}

/* Whether any manager owns the field that a scale changes. If not, scaling adds none. */
static bool has_scale_owner(const ki__managers *managers)
{
    static const char path[] = "f:spec\xff"
                               "f:replicas";
    for (size_t i = 0; i < managers->count; i++) {
        if (ki__field_set_has(&managers->items[i].fields, ki_str_from(path))) {
            return true;
        }
    }
    return false;
}

int ki__api_track(ki__api_exchange *x, const ki_object *body, const ki_object *old)
{
    ki_value in_body = managed_fields(body);
    ki_value in_old = managed_fields(old);
    ki_value before = {0};
    ki_value now = ki_object_root(body);
    ki__managers managers;
    ki__apply_write write;
    if (is_untracked(x, &in_body, &in_old, old == NULL)) {
        return 0;
    }
    ki__managers_init(&managers, x->alloc);
    int r = find_managers(x, &in_body, &in_old, &managers);
    bool unowned = is_scale(x) && !has_scale_owner(&managers);
    if (r == 0 && (managers.count != 0 || old == NULL) && !unowned) {
        before = old != NULL ? ki_object_root(old) : before;
        describe_write(x, false, &write);
        r = ki__apply_update(&write, &before, &now, &managers);
    }
    r = r < 0 ? r : keep_managers(x, &managers);
    if (r == KI_ERR_LIMIT) { /* too large to track: drop all owners */
        ki__buf_truncate(&x->managed, 0);
        x->managed_known = true;
        r = 0;
    }
    ki__managers_done(&managers);
    return ki__api_fail_write(x, r);
}

/* ---- conflicts ---- */

/* "kubectl-edit" using apps/v1 at 2026-01-01T00:00:00Z, in kube-apiserver's words. */
static void write_owner(const ki__manager *m, ki__out *out)
{
    ki__put_string(out, ki_str_from(m->name));
    if (m->subresource[0] != '\0') {
        ki__out_texts(out, " with subresource \"", m->subresource, "\"", NULL);
    }
    if (!m->applies) {
        ki__out_texts(out, " using ", m->api_version, NULL);
    }
}

static int add_cause(ki__api_failure *failure, const ki_buf *owner, const ki_buf *path)
{
    ki_buf text;
    ki_buf_init(&text, failure->more_causes.alloc, 1024);
    ki__out message = ki__out_to(&text);
    ki__out_texts(&message, "conflict with ", ki_buf_text(owner), NULL);
    ki__out out = ki__out_to(&failure->more_causes);
    ki__out_fail(&out, message.error);
    ki__out_text(&out, out.start != 0 ? "," : "");
    ki__put_map(&out);
    ki__put_member(&out, "reason", "FieldManagerConflict");
    ki__put_member_str(&out, "message", ki_buf_str(&text));
    ki__put_member_str(&out, "field", ki_buf_str(path));
    ki__put_end(&out);
    ki_buf_done(&text);
    int r = ki__out_commit(&out);
    return r == KI_ERR_LIMIT ? 0 : r; /* enough of them */
}

/* Adds one conflict to the message: on the same line if it is the only one. */
static void add_message(const ki__apply_conflicts *conflicts, size_t i, const ki_buf *owner,
                        const ki_buf *path, ki__out *out)
{
    if (conflicts->count == 1) {
        ki__out_texts(out, "conflict with ", ki_buf_text(owner), ": ", ki_buf_text(path), NULL);
        return;
    }
    if (i == 0 || conflicts->items[i - 1].manager != conflicts->items[i].manager) {
        ki__out_texts(out, i != 0 ? "\n" : "", "conflicts with ", ki_buf_text(owner), ":", NULL);
    }
    ki__out_texts(out, "\n- ", ki_buf_text(path), NULL);
}

static int fail_conflicts(ki__api_exchange *x, const ki__managers *managers,
                          const ki__apply_conflicts *conflicts)
{
    ki_buf owner;
    ki_buf path;
    char room[KI__DIGITS_SIZE];
    ki_buf_init(&owner, x->alloc, 1024);
    ki_buf_init(&path, x->alloc, 4096);
    int r = ki__api_fail(&x->failure, 409, KI_REASON_CONFLICT, "Apply failed with ",
                         ki__digits(conflicts->count, room).ptr,
                         conflicts->count == 1 ? " conflict: " : " conflicts: ", NULL);
    ki__out out = ki__out_to(&x->failure.message);
    for (size_t i = 0; i < conflicts->count && r == 0 && out.error != -ENOMEM; i++) {
        ki_buf_clear(&owner);
        ki_buf_clear(&path);
        ki__out owner_out = ki__out_to(&owner);
        ki__out path_out = ki__out_to(&path);
        write_owner(&managers->items[conflicts->items[i].manager], &owner_out);
        ki__field_path_write(conflicts->items[i].path, &path_out);
        bool failed =
            owner_out.error == -ENOMEM || path_out.error == -ENOMEM; /* others: truncated */
        r = failed ? -ENOMEM : add_cause(&x->failure, &owner, &path);
        add_message(conflicts, i, &owner, &path, &out);
    }
    ki_buf_done(&owner);
    ki_buf_done(&path);
    return r < 0 || out.error == KI_ERR_LIMIT ? r : out.error;
}

/* ---- applying ---- */

/* kube-apiserver's checks of an object to apply. */
static int check_config(ki__api_exchange *x, const ki_object *config, const ki_object *old)
{
    ki_value managed = managed_fields(config);
    const ki_resource *resource = x->shown->resource;
    if (strcmp(ki_object_api_version(config), ki_resource_api_version(resource)) != 0 ||
        strcmp(ki_object_kind(config), ki_resource_kind(resource)) != 0) {
        return ki__api_fail(&x->failure, 400, KI_REASON_BAD_REQUEST,
                            "an object to apply must be of the apiVersion \"",
                            ki_resource_api_version(resource), "\" and the kind \"",
                            ki_resource_kind(resource), "\"", NULL);
    }
    if (old == NULL && ki_object_name(config)[0] == '\0') {
        return ki__api_fail(&x->failure, 400, KI_REASON_BAD_REQUEST,
                            "an object to apply must have a name", NULL);
    }
    if (ki_value_type(&managed) > KI_TYPE_NULL) {
        return ki__api_fail(&x->failure, 400, KI_REASON_BAD_REQUEST,
                            "metadata.managedFields must be nil", NULL);
    }
    if (old == NULL && ki_object_uid(config)[0] != '\0') {
        return ki__api_fail_conflict(&x->failure, x->type, x->route.name,
                                     "it has a uid, but no such object exists");
    }
    int r = ki__api_check_body(x, config);
    return r < 0 || x->failure.code != 0 ? r : ki__api_check_schema(x, config);
}

static int apply(ki__api_exchange *x, const ki__apply_write *write, const ki_object *config,
                 const ki_object *old, ki__managers *managers, ki__apply_conflicts *conflicts,
                 ki_object **ret_object, ki_error *error)
{
    size_t max = x->model->options.object_bytes_max + 4096;
    ki_object_options options = {.size = sizeof(options), .alloc = x->alloc, .max_bytes = max};
    ki_value list = managed_fields(old);
    ki_value before = old != NULL ? ki_object_root(old) : (ki_value){0};
    ki_value applied = ki_object_root(config);
    ki_buf text;
    ki_buf_init(&text, x->alloc, max);
    int r = read_managers(&list, managers);
    r = r < 0 ? r : ki__apply_config(write, &before, &applied, managers, conflicts, &text, error);
    if (r == 0 && conflicts->count == 0) {
        r = keep_managers(x, managers);
        r = r < 0 ? r : ki_object_from_json(text.data, text.len, &options, ret_object, error);
    }
    ki_buf_done(&text);
    return r;
}

/* If kubectl used client-side apply before, the fields in its annotation are its own, and the
 * annotation is updated along with the object. */
static int apply_kubectl(ki__api_exchange *x, ki__apply_write *write, const ki_object *config,
                         const ki_object *old, ki__managers *managers,
                         ki__apply_conflicts *conflicts, ki_object **ret_object, ki_error *error)
{
    ki_object *last = NULL;
    int r = ki__last_applied_read(old, x->alloc, &last);
    if (r < 0 || last == NULL) {
        return r;
    }
    if (conflicts->count != 0) {
        ki_value then = ki_object_root(last);
        ki_value live = ki_object_root(old);
        r = ki__apply_ignore_unchanged(write, &then, &live, managers, conflicts);
        r = r == KI_ERR_INVALID ? 0 : r;
        if (r == 0 && conflicts->count == 0) {
            ki__managers_done(managers);
            ki__managers_init(managers, x->alloc);
            write->force = true;
            r = apply(x, write, config, old, managers, conflicts, ret_object, error);
        }
    }
    ki_object_unref(last);
    if (r == 0 && conflicts->count == 0) {
        r = ki__last_applied_write(config, x->alloc, ret_object);
    }
    return r;
}

int ki__api_apply_object(ki__api_exchange *x, const ki_object *config, const ki_object *old,
                         ki_object **ret_object)
{
    ki__managers managers;
    ki__apply_write write;
    ki__apply_conflicts conflicts = {.alloc = x->alloc};
    ki_error error = KI_ERROR_INIT;
    ki_object *made = NULL;
    int r = check_config(x, config, old);
    if (r < 0 || x->failure.code != 0) {
        return r;
    }
    describe_write(x, true, &write);
    ki__managers_init(&managers, x->alloc);
    r = apply(x, &write, config, old, &managers, &conflicts, &made, &error);
    if (r == 0 && old != NULL && strcmp(write.who.name, "kubectl") == 0) {
        r = apply_kubectl(x, &write, config, old, &managers, &conflicts, &made, &error);
    }
    if (r == 0 && conflicts.count != 0) {
        r = fail_conflicts(x, &managers, &conflicts);
    } else if (r == KI_ERR_INVALID) {
        r = ki__api_fail(&x->failure, 500, KI_REASON_UNKNOWN,
                         "the object cannot be applied: ", error.message, NULL);
    }
    ki__free(x->alloc, conflicts.items);
    ki__managers_done(&managers);
    if (r < 0 || x->failure.code != 0) {
        ki_object_unref(made);
        return ki__api_fail_write(x, r);
    }
    *ret_object = made;
    return 0;
}
