/* SPDX-License-Identifier: Apache-2.0 */
/* Creating objects from any encoding. Identity strings are copied, decoded and NUL-terminated;
 * everything else stays in the encoded bytes. */
#include "object/object.h"

#include <errno.h>

#include <kinformer/encoding.h>
#include <kinformer/packed.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/options.h"
#include "base/utf8.h"
#include "object/json/json_flat.h"
#include "object/json/json_locate.h"
#include "object/json/json_skip.h"
#include "object/json/json_string.h"
#include "object/pack/packed.h"
#include "object/projection/keep_tree.h"
#include "object/projection/proto_project.h"

_Static_assert(offsetof(struct ki_object, near_strings) <= 76,
               "an object is its bytes and little more");

enum { BYTES_DEFAULT = 16 << 20, BYTES_MAX = 1 << 30, DEPTH_DEFAULT = 128, DEPTH_MAX = 1024 };

static int read_options(const ki_object_options *options, ki_object_options *ret_options,
                        ki_error *error)
{
    ki_object_options o;
    int r = KI__TAKE(ki_object_options, &o, options, error);
    if (r < 0) {
        return r;
    }
    if (o.max_bytes > BYTES_MAX) {
        return ki__error_set(error, -EINVAL, "max_bytes: must not be more than 1 GiB");
    }
    if (o.max_depth > DEPTH_MAX) {
        return ki__error_set(error, -EINVAL, "max_depth: must not be more than %d", DEPTH_MAX);
    }
    if (ki_str_from(o.default_kind).len > KI__IDENTITY_BYTES_MAX ||
        ki_str_from(o.default_api_version).len > KI__IDENTITY_BYTES_MAX) {
        return ki__error_set(error, KI_ERR_LIMIT,
                             "default_kind, default_api_version: longer than %d bytes",
                             KI__IDENTITY_BYTES_MAX);
    }
    o.alloc = ki__alloc_or_default(o.alloc);
    o.max_bytes = o.max_bytes != 0 ? o.max_bytes : BYTES_DEFAULT;
    o.max_depth = o.max_depth != 0 ? o.max_depth : DEPTH_DEFAULT;
    *ret_options = o;
    return 0;
}

/* Offsets of the identity strings in the block. Each string is limited, so no sum overflows. */
typedef struct layout {
    uint16_t at[KI__IDENTITY_MAX];
    uint16_t near_len;
    uint16_t far_len;
} layout;
_Static_assert((KI__IDENTITY_MAX + 1) * (KI__IDENTITY_BYTES_MAX + 1) + KI__JSON_PADDING +
                       sizeof(void *) <=
                   UINT16_MAX,
               "offsets of strings have 16 bits");

static const ki__identity far_identity[] = {
    KI__IDENTITY_NAMESPACE,
    KI__IDENTITY_UID,
    KI__IDENTITY_KIND,
    KI__IDENTITY_API_VERSION,
};
enum { FAR_COUNT = sizeof(far_identity) / sizeof(far_identity[0]) };

/* Reserves space for a string and its terminator. */
static uint16_t take_room(uint16_t *end, uint16_t len)
{
    uint16_t at = *end;
    *end = (uint16_t)(at + len + 1);
    return at;
}

static layout plan_strings(const ki__located *located, bool partial)
{
    const uint16_t *len = located->identity_len;
    layout plan = {0};
    if (len[KI__IDENTITY_NAME] != 0 && len[KI__IDENTITY_NAMESPACE] != 0) {
        (void)take_room(&plan.near_len, len[KI__IDENTITY_NAMESPACE]);
    }
    plan.at[KI__IDENTITY_NAME] = take_room(&plan.near_len, len[KI__IDENTITY_NAME]);
    plan.at[KI__IDENTITY_RESOURCE_VERSION] =
        take_room(&plan.near_len, len[KI__IDENTITY_RESOURCE_VERSION]);
    plan.near_len = (uint16_t)(plan.near_len + (partial ? sizeof(void *) : 0));
    (void)take_room(&plan.far_len, 0); /* the empty string, shared by all empty ones */
    for (size_t i = 0; i < FAR_COUNT; i++) {
        ki__identity which = far_identity[i];
        plan.at[which] = len[which] != 0 ? take_room(&plan.far_len, len[which]) : 0;
    }
    if (plan.far_len < KI__JSON_PADDING) {
        plan.far_len = KI__JSON_PADDING;
    }
    return plan;
}

static void put_text(const ki_object *object, char *place, const ki__located *located,
                     ki__identity which, char end)
{
    ki_str raw = located->identity[which];
    size_t len = located->identity_len[which];
    if (len != raw.len) { /* escaped; its decoded length is known */
        (void)(object->encoding == KI_ENCODING_JSON ? ki__json_decode(raw, place, len)
                                                    : ki__utf8_repair(raw, place, len));
    } else if (len != 0) {
        memcpy(place, raw.ptr, len);
    }
    place[len] = end;
}

static void put_strings(ki_object *object, const ki__located *located, const layout *plan)
{
    char *near = object->near_strings;
    char *far = near + object->near_len + object->len;
    if (object->name != 0) {
        put_text(object, near, located, KI__IDENTITY_NAMESPACE, '/');
    }
    put_text(object, near + object->name, located, KI__IDENTITY_NAME, '\0');
    put_text(object, near + object->resource_version, located, KI__IDENTITY_RESOURCE_VERSION, '\0');
    memset(far, 0, plan->far_len);
    for (size_t i = 0; i < FAR_COUNT; i++) {
        put_text(object, far + plan->at[far_identity[i]], located, far_identity[i], '\0');
    }
}

static void fill_header(ki_object *object, const ki__located *located, const layout *plan)
{
    object->labels = located->place[KI__PLACE_LABELS];
    object->annotations = located->place[KI__PLACE_ANNOTATIONS];
    object->owner_references = located->place[KI__PLACE_OWNER_REFERENCES];
    object->finalizers = located->place[KI__PLACE_FINALIZERS];
    object->creation = located->place[KI__PLACE_CREATION];
    object->deletion = located->place[KI__PLACE_DELETION];
    object->generation = located->place[KI__PLACE_GENERATION];
    object->name = plan->at[KI__IDENTITY_NAME];
    object->near_len = plan->near_len;
    object->name_space = plan->at[KI__IDENTITY_NAMESPACE];
    object->uid = plan->at[KI__IDENTITY_UID];
    object->resource_version = plan->at[KI__IDENTITY_RESOURCE_VERSION];
    object->kind = plan->at[KI__IDENTITY_KIND];
    object->api_version = plan->at[KI__IDENTITY_API_VERSION];
}

/* The received bytes and an insertion. */
typedef struct content {
    ki_str bytes;
    ki_str more;
    size_t at; /* insertion offset of `more` */
} content;

static void put_content(char *place, const content *c)
{
    size_t rest = c->bytes.len - c->at;
    if (c->at != 0) {
        memcpy(place, c->bytes.ptr, c->at);
    }
    if (c->more.len != 0) {
        memcpy(place + c->at, c->more.ptr, c->more.len);
    }
    if (rest != 0) {
        memcpy(place + c->at + c->more.len, c->bytes.ptr + c->at, rest);
    }
}

/* What is read, and how. */
typedef struct reading {
    const ki_object_options *options;
    const ki_projection *projection; /* of the object; that of the options unless it is a part */
    ki_buf *scratch;
    ki__object_tail *tail; /* or NULL */
} reading;

/* Allocates the block and fills in everything common to all encodings. NULL if out of memory. */
static ki_object *make_block(const content *c, ki_encoding encoding, const ki__located *located,
                             const reading *how)
{
    const ki_alloc *alloc = how->options->alloc;
    const ki_projection *projection = how->projection;
    const ki__object_tail *tail = how->tail;
    layout plan = plan_strings(located, projection != NULL);
    size_t len = c->bytes.len + c->more.len;
    size_t around = tail != NULL ? tail->before + tail->bytes.len : 0;
    char *block = ki__alloc(alloc, ki__object_size(plan.near_len, len + around, plan.far_len));
    if (block == NULL) {
        return NULL;
    }
    ki_object *object = (ki_object *)(void *)(block + (tail != NULL ? tail->before : 0));
    object->alloc = alloc;
    ki__refs_init(&object->refs);
    object->encoding = (uint8_t)encoding;
    object->len = (uint32_t)len;
    fill_header(object, located, &plan);
    put_strings(object, located, &plan);
    put_content(object->near_strings + object->near_len, c);
    object->partial = projection != NULL;
    object->packed = tail != NULL;
    if (projection != NULL) {
        projection = ki_projection_ref(projection);
        memcpy(object->near_strings + object->near_len - sizeof(projection), &projection,
               sizeof(projection));
    }
    if (tail != NULL) {
        how->tail->at =
            (uint32_t)(offsetof(ki_object, near_strings) + plan.near_len + len + plan.far_len);
        memcpy((char *)object + tail->at, tail->bytes.ptr, tail->bytes.len);
    }
    return object;
}

static int check_bytes(const char *bytes, size_t len, const ki_object_options *options,
                       ki_error *error)
{
    if (bytes == NULL && len != 0) {
        return ki__error_set(error, -EINVAL, "empty input");
    }
    if (len > options->max_bytes) {
        return ki__error_set(error, KI_ERR_LIMIT, "object too large: %zu bytes, limit %zu", len,
                             options->max_bytes);
    }
    return 0;
}

/* ---- JSON ---- */

/* List items leave kind and apiVersion to the list. A standalone object must have them, since its
 * readers do not know the list. They are inserted as the first members. */
enum { IDENTIFY_BYTES = 2 * (KI__IDENTITY_BYTES_MAX + sizeof("\"apiVersion\":\"\",")) };

/* Whether the text needs no JSON escapes; kinds and apiVersions never do. */
static bool is_plain(ki_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.ptr[i];
        if (c < 0x20 || c > 0x7e || c == '"' || c == '\\') {
            return false;
        }
    }
    return text.len != 0;
}

static void add_text(char *to, size_t *len, ki_str text)
{
    memcpy(to + *len, text.ptr, text.len);
    *len += text.len;
}

static void add_member(char *to, size_t *len, const ki__located *located, ki__identity which,
                       const char *name, const char *value)
{
    if (located->identity[which].ptr == NULL && is_plain(ki_str_from(value))) {
        add_text(to, len, ki_str_from(name));
        add_text(to, len, ki_str_from(value));
        add_text(to, len, ki_str_from("\","));
    }
}

/* Builds the insertion in `room` and determines its offset. */
static content identify(ki_str bytes, const ki_object_options *o, ki__located *located, char *room)
{
    size_t len = 0;
    add_member(room, &len, located, KI__IDENTITY_API_VERSION, "\"apiVersion\":\"",
               o->default_api_version);
    add_member(room, &len, located, KI__IDENTITY_KIND, "\"kind\":\"", o->default_kind);
    if (len == 0) {
        return (content){.bytes = bytes};
    }
    const char *open = memchr(bytes.ptr, '{', bytes.len);
    uint32_t blanks = (uint32_t)(open - bytes.ptr); /* leading blanks, which are dropped */
    const char *first = open + 1 + strspn(open + 1, " \t\r\n");
    len -= *first == '}'; /* no comma before '}' */
    for (size_t i = 0; i < KI__PLACE_MAX; i++) {
        if (located->place[i] != 0) {
            located->place[i] += (uint32_t)len - blanks;
        }
    }
    return (content){
        .bytes = ki_str_make(open, bytes.len - blanks),
        .more = ki_str_make(room, len),
        .at = 1,
    };
}

/* Space for what a projection keeps of `len` bytes; NULL if out of memory. */
static char *make_room(ki_buf *scratch, size_t len)
{
    char *room;
    ki_buf_clear(scratch);
    return ki_buf_reserve(scratch, len != 0 ? len : 1, &room) == 0 ? room : NULL;
}

/* An invalid object is read again without projection, because the positions in errors are those in
 * the received bytes. */
static int locate_json(ki_str *bytes, const ki_object_options *o, ki_buf *scratch,
                       ki__located *ret_located, ki_error *error)
{
    int r = 0;
    ki_str kept = *bytes;
    if (o->projection != NULL) {
        char *room = make_room(scratch, bytes->len);
        if (room == NULL) {
            return ki__error_code(error, -ENOMEM);
        }
        r = ki__json_project(*bytes, o->max_depth, o->projection->root, room, &kept.len);
        kept.ptr = room;
        r = r < 0 ? r : ki__json_locate(kept, o->max_depth, ret_located, NULL);
        if (r >= 0) {
            *bytes = kept;
            return 0;
        }
    }
    int full = ki__json_locate(*bytes, o->max_depth, ret_located, error);
    return full < 0 || r == 0 ? full : ki__error_code(error, r);
}

static int read_json(ki_str bytes, const reading *how, ki_object **ret_object, ki_error *error)
{
    const ki_object_options *o = how->options;
    ki__located located;
    int r = locate_json(&bytes, o, how->scratch, &located, error);
    if (r < 0) {
        return r;
    }
    char room[IDENTIFY_BYTES];
    content c = identify(bytes, o, &located, room);
    ki__located_default(&located, KI__IDENTITY_KIND, o->default_kind);
    ki__located_default(&located, KI__IDENTITY_API_VERSION, o->default_api_version);
    ki_object *object = make_block(&c, KI_ENCODING_JSON, &located, how);
    if (object == NULL) {
        return ki__error_code(error, -ENOMEM);
    }
    object->shortcuts = (ki__json_shortcuts){
        .metadata = located.place[KI__PLACE_METADATA],
        .spec = located.place[KI__PLACE_SPEC],
        .status = located.place[KI__PLACE_STATUS],
    };
    object->labels_flat =
        object->labels != 0 ? ki__json_flat_len(ki__object_bytes(object) + object->labels) : 0;
    *ret_object = object;
    return 0;
}

/* ---- protobuf ---- */

/* Projects the message alone: its kind is known, so the envelope is not kept. Of an unknown kind
 * without readable metadata, everything is kept: its fields have no names. */
static int project_proto(ki_str *body, const ki_object_options *o, ki_buf *scratch,
                         const ki__proto_located *located)
{
    const ki__schema_message *message = ki__proto_guess(*body, o, located);
    char *room = make_room(scratch, body->len);
    if (room == NULL) {
        return -ENOMEM;
    }
    size_t len = body->len;
    if (message == NULL) {
        memcpy(room, body->ptr, len);
    } else if (!ki__proto_project(*body, message, o->projection->root, room, &len)) {
        return KI_ERR_SYNTAX;
    }
    *body = ki_str_make(room, len);
    return 0;
}

static int locate_proto(ki_str *bytes, const ki_object_options *o, ki_buf *scratch,
                        ki__proto_located *ret_located, ki_error *error)
{
    ki_str body;
    int r = ki__proto_open(*bytes, o, ret_located, &body, error);
    if (r < 0) {
        return r;
    }
    if (o->projection != NULL) {
        ki_str kept = body;
        ki__proto_located located = *ret_located;
        r = project_proto(&kept, o, scratch, &located);
        r = r < 0 ? r : ki__proto_locate(kept, kept, o, &located, NULL);
        if (r >= 0) {
            *ret_located = located;
            *bytes = kept;
            return 0;
        }
        if (r == -ENOMEM) {
            return ki__error_code(error, r);
        }
    }
    int full = ki__proto_locate(*bytes, body, o, ret_located, error);
    return full < 0 || r == 0 ? full : ki__error_code(error, r);
}

static int read_proto(ki_str bytes, const reading *how, ki_object **ret_object, ki_error *error)
{
    ki__proto_located located;
    int r = locate_proto(&bytes, how->options, how->scratch, &located, error);
    if (r < 0) {
        return r;
    }
    ki_object *object =
        make_block(&(content){.bytes = bytes}, KI_ENCODING_PROTOBUF, &located.common, how);
    if (object == NULL) {
        return ki__error_code(error, -ENOMEM);
    }
    object->body = located.body;
    object->metadata_end = located.metadata_end;
    *ret_object = object;
    return 0;
}

/* ---- both ---- */

int ki__object_read(ki_encoding encoding, ki_str bytes, const ki_object_options *options,
                    ki_buf *scratch, ki_object **ret_object, ki_error *error)
{
    ki_object_options o = {0};
    int r = read_options(options, &o, error);
    if (r >= 0) {
        r = check_bytes(bytes.ptr, bytes.len, &o, error);
    }
    if (r < 0) {
        return r;
    }
    if (o.projection != NULL && o.projection->root == NULL) {
        o.projection = NULL; /* keeps everything */
    }
    ki_buf own;
    ki_buf_init(&own, o.alloc, SIZE_MAX);
    bytes.ptr = bytes.ptr != NULL ? bytes.ptr : "";
    const reading how = {
        .options = &o,
        .projection = o.projection,
        .scratch = scratch != NULL ? scratch : &own,
    };
    r = encoding == KI_ENCODING_JSON ? read_json(bytes, &how, ret_object, error)
                                     : read_proto(bytes, &how, ret_object, error);
    ki_buf_done(&own);
    return r;
}

/* The options to read the bytes of an object again, of which `projection` is kept. */
static ki_object_options options_of(const ki_object *object, const ki_projection *projection)
{
    return (ki_object_options){
        .size = sizeof(ki_object_options),
        .alloc = object->alloc,
        .max_bytes = BYTES_MAX,
        .max_depth = DEPTH_MAX,
        .default_kind = ki_object_kind(object),
        .default_api_version = ki_object_api_version(object),
        .projection = projection,
    };
}

int ki__object_read_part(const ki_object *object, const ki_projection *part, ki_buf *scratch,
                         ki__object_tail *tail, ki_object **ret_object, ki_error *error)
{
    const ki_object_options o = options_of(object, part);
    const reading how = {
        .options = &o,
        .projection = ki__object_projection(object),
        .scratch = scratch,
        .tail = tail,
    };
    ki_str bytes = ki_str_make(ki__object_bytes(object), object->len);
    bool json = object->encoding == KI_ENCODING_JSON;
    int r = json ? read_json(bytes, &how, ret_object, error)
                 : read_proto(bytes, &how, ret_object, error);
    if (r < 0) {
        return r;
    }
    ki_object *made = *ret_object;
    made->annotations = object->annotations; /* whether there are any */
    made->finalizers = object->finalizers;
    if (!json) {
        made->body.complete = object->body.complete;
    }
    return 0;
}

int ki_object_from_json(const char *bytes, size_t len, const ki_object_options *options,
                        ki_object **ret_object, ki_error *error)
{
    if (len != 0) {
        KI__REQUIRE(bytes, error);
    }
    KI__REQUIRE(ret_object, error);
    return ki__object_read(KI_ENCODING_JSON, ki_str_make(bytes, len), options, NULL, ret_object,
                           error);
}

int ki_object_from_protobuf(const char *bytes, size_t len, const ki_object_options *options,
                            ki_object **ret_object, ki_error *error)
{
    if (len != 0) {
        KI__REQUIRE(bytes, error);
    }
    KI__REQUIRE(ret_object, error);
    return ki__object_read(KI_ENCODING_PROTOBUF, ki_str_make(bytes, len), options, NULL, ret_object,
                           error);
}

int ki_object_project(const ki_object *object, const ki_projection *projection,
                      ki_object **ret_object, ki_error *error)
{
    KI__REQUIRE(object, error);
    KI__REQUIRE(projection, error);
    KI__REQUIRE(ret_object, error);
    if (projection->root == NULL || ki__object_projection(object) == projection) {
        *ret_object = ki_object_ref(object);
        return 0;
    }
    if (object->partial) {
        return ki__error_set(error, KI_ERR_NOT_KEPT, "%s %s: is partial, with another projection",
                             ki_object_kind(object), ki_object_key(object));
    }
    return ki__object_reduce(object, projection, ret_object, error);
}

int ki__object_reduce(const ki_object *object, const ki_projection *projection,
                      ki_object **ret_object, ki_error *error)
{
    ki_object *plain = NULL;
    int r = ki_object_unpack(object, &plain, error);
    if (r >= 0) {
        const ki_object_options options = options_of(plain, projection);
        r = ki__object_read(ki_object_encoding(plain), ki_object_bytes(plain), &options, NULL,
                            ret_object, error);
    }
    (void)ki_object_unref(plain);
    return r;
}

bool ki__object_is_reduced(const ki_object *object)
{
    return object->partial && ki__object_projection(object)->is_reduction;
}

ki_object *ki_object_ref(const ki_object *object)
{
    if (object == NULL) {
        return NULL;
    }
    /* Objects are constant except for the reference count, so callers can ref a const pointer. */
    ki_object *mutable = (ki_object *)(uintptr_t)object;
    ki__refs_take(&mutable->refs);
    return mutable;
}

ki_object *ki_object_unref(const ki_object *object)
{
    if (object == NULL) {
        return NULL;
    }
    ki_object *mutable = (ki_object *)(uintptr_t)object;
    if (ki__refs_drop(&mutable->refs)) {
        const ki_alloc *alloc = mutable->alloc;
        (void)ki_projection_unref(ki__object_projection(mutable));
        ki__free(alloc, mutable->packed ? ki__packed_done(mutable) : mutable);
    }
    return NULL;
}
