/* SPDX-License-Identifier: Apache-2.0 */
/* Typed views: fields of objects by C functions instead of by path, checked by the compiler and
 * read in place. The views of the built-in kinds are in <kinformer/api/...>, one header for each
 * group and version; kinformer.h includes none of them. In C++, <kinformer/api/....hpp> have the
 * same as methods.
 *
 *   ki_core_v1_Pod pod = ki_core_v1_Pod_of(object);
 *   ki_text node = ki_core_v1_PodSpec_nodeName(ki_core_v1_Pod_spec(pod));
 *   KI_EACH (ki_core_v1_Container, c, ki_core_v1_PodSpec_containers(ki_core_v1_Pod_spec(pod))) {
 *       ki_text image = ki_core_v1_Container_image(c);
 *       printf("%.*s\n", KI_STR_ARG(image));
 *   }
 *
 * Names are ki_GROUP_VERSION_Type_field, with type and field spelled as in the API. In names of
 * fields, characters that C does not allow become "_", except at the beginning, where they are
 * dropped; fields named of, list, map, edit and new get a "_" at the end. For each field `f` of a
 * type `T`:
 *   T_f(view)             its value; if it is absent: the default of the API where the published
 *                         types have one, else empty, 0 or false
 *   T_has_f(view)         whether it is present, and not null
 *   T_get_f(view, &value) the value as a ki_value, or why there is none: KI_ERR_NOT_FOUND,
 *                         KI_ERR_NO_SCHEMA for a protobuf field that this library does not know, or
 *                         KI_ERR_NOT_KEPT for a field that was not kept of a partial object
 *                         (projection.h), of which the others must read kept fields only
 *   T_f_by_KEY(view, key) of lists of maps with a key, such as containers by name: the element
 * and for a type `T`:
 *   T_of(object)          of kinds: the view of an object; of an object of another kind, an empty
 *                         view
 *   T_list, T_map         lists of it, and maps with string keys; for both, see KI_EACH
 * An empty view has no fields: chains of calls need no checks. Strings with documented values
 * have a constant for each, such as KI_CORE_V1_PodPhase_Running. KI_PATH() makes paths that the
 * compiler checks. <kinformer/view_edit.h>, which is a part of this header, describes how to write.
 *
 * Views are small values that own nothing: they and all that is read from them are valid as long as
 * the object. Members of types of this header are public where stated; those of views are not,
 * except `value`. All functions may be called on any thread, never block and allocate nothing,
 * except where stated.  Since: 0.1 */
#ifndef KINFORMER_VIEW_H
#define KINFORMER_VIEW_H

#include <kinformer/buf.h>
#include <kinformer/defs.h>
#include <kinformer/object.h>
#include <kinformer/str.h>
#include <kinformer/value.h>
#include <kinformer/view_edit.h>

KI_BEGIN_DECLS

/** Returns whether a view, list or map is not empty: its field or object exists. */
#define ki_view_exists(view) ((view).value.ops != NULL)

/* ---- strings ---- */

/** A string inside an object. Almost always plain: then `ptr` and `len` are its bytes, as in
 *  ki_str, and KI_STR_ARG() prints it. JSON with escapes and protobuf that is not UTF-8 is encoded:
 *  `ptr` and `len` are then the bytes as stored. The functions below decode them. */
typedef struct ki_text {
    const char *ptr; /* never NULL */
    size_t len;
    const void *encoding; /* NULL: plain; else private */
} ki_text;

/** Returns whether a text has exactly these bytes when decoded.  Since: 0.1 */
KI_API bool ki_text_equals(ki_text text, ki_str other);
static inline bool ki_text_is(ki_text text, const char *other)
{
    return text.encoding != NULL ? ki_text_equals(text, ki_str_from(other))
                                 : ki_str_eq(ki_str_make(text.ptr, text.len), ki_str_from(other));
}

/** Copies a text, decoded and NUL-terminated, to `out` of `size` bytes. Returns its length. On
 *  failure `out` is unchanged.
 *  Errors: KI_ERR_LIMIT  it does not fit, including the NUL.  Since: 0.1 */
KI_API KI_NODISCARD int ki_text_copy(ki_text text, char *out, size_t size);

/** The same, but returns `out`; or `otherwise`, which may be NULL, if the text is empty or does not
 *  fit.  Since: 0.1 */
KI_API const char *ki_text_or(ki_text text, const char *otherwise, char *out, size_t size);

/** Appends a text, decoded.
 *  Errors: KI_ERR_LIMIT or -ENOMEM from `out`, which is then unchanged.  Since: 0.1 */
KI_API KI_NODISCARD int ki_text_append(ki_text text, ki_buf *out);

/* ---- bytes ---- */

/** Bytes inside an object, such as those of a secret. Stored in base64 in JSON. Private members. */
typedef struct ki_bytes {
    const char *ptr;
    size_t len;
    const void *encoding;
} ki_bytes;

/** Copies bytes, decoded, to `out` of `size` bytes; no NUL is added. Returns their number. On
 *  failure `out` is undefined.
 *  Errors: KI_ERR_LIMIT  they do not fit;  KI_ERR_INVALID  not base64;  -ENOMEM  only for base64
 *          that is stored with escapes.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_bytes_copy(ki_bytes bytes, char *out, size_t size);

/** Appends bytes, decoded.
 *  Errors: KI_ERR_INVALID  not base64;  KI_ERR_LIMIT or -ENOMEM from `out`, which needs space for
 *          the base64 meanwhile. On failure `out` is unchanged.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_bytes_append(ki_bytes bytes, ki_buf *out);

/* ---- numbers and times ---- */

/** A quantity of a resource, as written: "250m", "1.5Gi". Empty if absent. */
typedef struct ki_quantity {
    ki_text text;
} ki_quantity;

/** Read a quantity as an integer, or in thousandths (millicores), rounded away from 0 as in Go; or
 *  as a double.
 *  Errors: KI_ERR_INVALID  not a quantity, or absent;  KI_ERR_RANGE  it does not fit, or has a
 *          binary suffix and over 18 digits after the point.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_quantity_int64(ki_quantity quantity, int64_t *ret_number);
KI_API KI_NODISCARD int ki_quantity_milli(ki_quantity quantity, int64_t *ret_number);
KI_API KI_NODISCARD int ki_quantity_double(ki_quantity quantity, double *ret_number);

/** The same; `otherwise` on failure.  Since: 0.1 */
static inline int64_t ki_quantity_int64_or(ki_quantity quantity, int64_t otherwise)
{
    int64_t number = otherwise;
    return ki_quantity_int64(quantity, &number) == 0 ? number : otherwise;
}
static inline int64_t ki_quantity_milli_or(ki_quantity quantity, int64_t otherwise)
{
    int64_t number = otherwise;
    return ki_quantity_milli(quantity, &number) == 0 ? number : otherwise;
}
static inline double ki_quantity_double_or(ki_quantity quantity, double otherwise)
{
    double number = otherwise;
    return ki_quantity_double(quantity, &number) == 0 ? number : otherwise;
}

/** A point in time; all 0 if absent or invalid. Public members. */
typedef struct ki_timestamp {
    int64_t seconds; /* since 1970 */
    int32_t nanos;   /* 0 to 999,999,999 */
} ki_timestamp;

/** A field that is a number or a string, such as a port or "25%". The number 0 if absent. Public
 *  members. */
typedef struct ki_int_or_string {
    bool is_string;
    int32_t number; /* 0 if it is a string */
    ki_text text;   /* empty if it is a number */
} ki_int_or_string;

/** Make one of a number, or of a C string, which must stay as long as it is used.  Since: 0.1 */
static inline ki_int_or_string ki_int_or_string_int(int32_t number)
{
    ki_int_or_string value = {false, number, {"", 0, NULL}};
    return value;
}
static inline ki_int_or_string ki_int_or_string_text(const char *text)
{
    ki_int_or_string value = {true, 0, {text, text != NULL ? strlen(text) : 0, NULL}};
    return value;
}

/* ---- the interface of generated headers ----
 *
 * `view` is the `value` of a view. `field` identifies the field by its number in protobuf, in the
 * lowest byte; if it is in a message that JSON shows as part of `view`, the number of that message
 * is in the next byte, and so on. The highest byte is the length of `name`, its name in JSON. With
 * a field of 0, the functions read `view` itself: an element of a list or a map. */

#define KI_VIEW_FIELD(number, name) ((uint32_t)(number) | (uint32_t)(sizeof(name) - 1) << 24), name

/** Returns the whole object, or KI_TYPE_NONE if it is NULL or of another kind. An api_version of
 *  NULL allows any.  Since: 0.1 */
KI_API ki_value ki_view_root(const ki_object *object, const char *api_version, const char *kind);

/** Finds a field, as ki_value_member() does.
 *  Errors: KI_ERR_TYPE  not a view of a map;  KI_ERR_NOT_FOUND;  KI_ERR_NO_SCHEMA  it exists, but
 *          the schema of this library does not have it.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_view_get(const ki_value *view, uint32_t field, const char *name,
                                    ki_value *ret_value);

/** Returns whether a field is present, and not null.  Since: 0.1 */
KI_API bool ki_view_has(const ki_value *view, uint32_t field, const char *name);

/* Read a field as a C type; `otherwise` if it is absent, null or of another type. Without
 * `otherwise`: KI_TYPE_NONE, empty or 0.  Since: 0.1 */
KI_API ki_value ki_view_child(const ki_value *view, uint32_t field, const char *name);
KI_API ki_text ki_view_text(const ki_value *view, uint32_t field, const char *name,
                            const char *otherwise);
KI_API bool ki_view_bool(const ki_value *view, uint32_t field, const char *name, bool otherwise);
KI_API int32_t ki_view_int32(const ki_value *view, uint32_t field, const char *name,
                             int32_t otherwise);
KI_API int64_t ki_view_int64(const ki_value *view, uint32_t field, const char *name,
                             int64_t otherwise);
KI_API double ki_view_double(const ki_value *view, uint32_t field, const char *name,
                             double otherwise);
KI_API ki_bytes ki_view_bytes(const ki_value *view, uint32_t field, const char *name);
KI_API ki_timestamp ki_view_time(const ki_value *view, uint32_t field, const char *name);
KI_API int64_t ki_view_duration(const ki_value *view, uint32_t field, const char *name);
KI_API ki_quantity ki_view_quantity(const ki_value *view, uint32_t field, const char *name);
KI_API ki_int_or_string ki_view_int_or_string(const ki_value *view, uint32_t field,
                                              const char *name);

/** Returns the first element of a list whose field is the string `key`; KI_TYPE_NONE if there is
 *  none.  Since: 0.1 */
KI_API ki_value ki_view_find(const ki_value *list, uint32_t field, const char *name,
                             const char *key);

/** Returns the next element of a list: as ki_value_iter_next(), but false at the end.
 *  Since: 0.1 */
KI_API bool ki_view_next(ki_value_iter *iter, ki_value *ret_element);

/** Returns element `index` of a list, or the value of a key in a map; KI_TYPE_NONE if there is
 *  none.  Since: 0.1 */
KI_API ki_value ki_view_element(const ki_value *list, size_t index);
KI_API ki_value ki_view_entry(const ki_value *map, const char *key);

/* ---- loops ---- */

/** Visits the elements of a list of type T_list: the body runs with `item`, of type T, set to each.
 *  break and continue work as usual.
 *    KI_EACH (ki_core_v1_Container, c, ki_core_v1_PodSpec_containers(spec)) { ... } */
#define KI_EACH(T, item, list)                                                  \
    for (T##_list_iter item##_iter = T##_list_begin(list); item##_iter.is_open; \
         item##_iter.is_open = false)                                           \
        for (T item; T##_list_next(&item##_iter, &item);)

/** Visits the entries of a map of type T_map: `key`, a ki_text, and `item`, of type T. */
#define KI_EACH_ENTRY(T, key, item, map)                                     \
    for (T##_map_iter item##_iter = T##_map_begin(map); item##_iter.is_open; \
         item##_iter.is_open = false)                                        \
        for (ki_text key; item##_iter.is_open; item##_iter.is_open = false)  \
            for (T item; T##_map_next(&item##_iter, &key, &item);)

/* ---- lists and maps ---- */

/* Define T_list and T_map with T_list_count(list), T_list_at(list, index), T_map_count(map) and
 * T_map_get(map, key). ki_from_T(&value) makes a T of an element. */

#define KI_VIEW_LIST(T)  \
    KI_VIEW_LIST_READ(T) \
    KI_VIEW_LIST_EDIT(T)
#define KI_VIEW_MAP(T)  \
    KI_VIEW_MAP_READ(T) \
    KI_VIEW_MAP_EDIT(T)

#define KI_VIEW_LIST_READ(T)                                              \
    typedef struct T##_list {                                             \
        ki_value value;                                                   \
    } T##_list;                                                           \
    typedef struct T##_list_iter {                                        \
        ki_value_iter walk;                                               \
        bool is_open;                                                     \
    } T##_list_iter;                                                      \
    static inline size_t T##_list_count(T##_list list)                    \
    {                                                                     \
        return ki_value_count(&list.value);                               \
    }                                                                     \
    static inline T T##_list_at(T##_list list, size_t index)              \
    {                                                                     \
        ki_value element = ki_view_element(&list.value, index);           \
        return ki_from_##T(&element);                                     \
    }                                                                     \
    static inline T##_list_iter T##_list_begin(T##_list list)             \
    {                                                                     \
        T##_list_iter iter;                                               \
        iter.is_open = ki_value_iter_begin(&list.value, &iter.walk) == 0; \
        return iter;                                                      \
    }                                                                     \
    static inline bool T##_list_next(T##_list_iter *iter, T *ret_item)    \
    {                                                                     \
        ki_value element;                                                 \
        bool more = ki_view_next(&iter->walk, &element);                  \
        if (more) {                                                       \
            *ret_item = ki_from_##T(&element);                            \
        }                                                                 \
        return more;                                                      \
    }

#define KI_VIEW_MAP_READ(T)                                                            \
    typedef struct T##_map {                                                           \
        ki_value value;                                                                \
    } T##_map;                                                                         \
    typedef struct T##_map_iter {                                                      \
        ki_value_iter walk;                                                            \
        bool is_open;                                                                  \
    } T##_map_iter;                                                                    \
    static inline size_t T##_map_count(T##_map map)                                    \
    {                                                                                  \
        return ki_value_count(&map.value);                                             \
    }                                                                                  \
    static inline T T##_map_get(T##_map map, const char *key)                          \
    {                                                                                  \
        ki_value entry = ki_view_entry(&map.value, key);                               \
        return ki_from_##T(&entry);                                                    \
    }                                                                                  \
    static inline T##_map_iter T##_map_begin(T##_map map)                              \
    {                                                                                  \
        T##_map_iter iter;                                                             \
        iter.is_open = ki_value_iter_begin(&map.value, &iter.walk) == 0;               \
        return iter;                                                                   \
    }                                                                                  \
    static inline bool T##_map_next(T##_map_iter *iter, ki_text *ret_key, T *ret_item) \
    {                                                                                  \
        ki_value key;                                                                  \
        ki_value entry;                                                                \
        bool more = ki_value_iter_next(&iter->walk, &key, &entry) > 0;                 \
        if (more) {                                                                    \
            *ret_key = ki_view_text(&key, 0, NULL, NULL);                              \
            *ret_item = ki_from_##T(&entry);                                           \
        }                                                                              \
        return more;                                                                   \
    }

/* Makes a list or map, L, a type of elements. */
#define KI_VIEW_INNER(L)                               \
    static inline L ki_from_##L(const ki_value *value) \
    {                                                  \
        L inner;                                       \
        inner.value = *value;                          \
        return inner;                                  \
    }

/* A type of views. */
#define KI_VIEW_TYPE(T)                                \
    typedef struct T {                                 \
        ki_value value;                                \
    } T;                                               \
    static inline T ki_from_##T(const ki_value *value) \
    {                                                  \
        T view;                                        \
        view.value = *value;                           \
        return view;                                   \
    }                                                  \
    KI_VIEW_PLACE(T, ki_place_map)

/* Around the fields of a type, which is KI_T there. */
#define KI_VIEW_BEGIN
#define KI_VIEW_END

/* T_of(), T_edit_of() and T_edit_new() for kinds. */
#define KI_VIEW_KIND(T, api_version, kind)                                                      \
    KI_VIEW_ATTRIBUTE                                                                           \
    static inline T T##_of(const ki_object *object)                                             \
    {                                                                                           \
        T view;                                                                                 \
        view.value = ki_view_root(object, api_version, kind);                                   \
        return view;                                                                            \
    }                                                                                           \
    KI_VIEW_ATTRIBUTE                                                                           \
    static inline T##_edit T##_edit_of(struct ki_edit *edit)                                    \
    {                                                                                           \
        T##_edit root;                                                                          \
        root.place = ki_place_root(edit, api_version, kind);                                    \
        return root;                                                                            \
    }                                                                                           \
    KI_VIEW_ATTRIBUTE                                                                           \
    static inline T##_edit T##_edit_new(struct ki_edit *edit, const char *ns, const char *name) \
    {                                                                                           \
        T##_edit root;                                                                          \
        root.place = ki_place_new(edit, api_version, kind, ns, name);                           \
        return root;                                                                            \
    }

/* ---- lists and maps of values that are not messages ---- */

typedef int64_t ki_int64; /* also for 32 bits */
typedef bool ki_bool;
typedef double ki_double;

/** Return an element of a list or map as its type; for the macros above.  Since: 0.1 */
static inline ki_value ki_from_ki_value(const ki_value *value)
{
    return *value;
}
static inline ki_text ki_from_ki_text(const ki_value *value)
{
    return ki_view_text(value, 0, NULL, NULL);
}
static inline ki_bytes ki_from_ki_bytes(const ki_value *value)
{
    return ki_view_bytes(value, 0, NULL);
}
static inline ki_int64 ki_from_ki_int64(const ki_value *value)
{
    return ki_view_int64(value, 0, NULL, 0);
}
static inline ki_bool ki_from_ki_bool(const ki_value *value)
{
    return ki_view_bool(value, 0, NULL, false);
}
static inline ki_quantity ki_from_ki_quantity(const ki_value *value)
{
    return ki_view_quantity(value, 0, NULL);
}
static inline ki_timestamp ki_from_ki_timestamp(const ki_value *value)
{
    return ki_view_time(value, 0, NULL);
}
static inline ki_double ki_from_ki_double(const ki_value *value)
{
    return ki_view_double(value, 0, NULL, 0);
}
static inline ki_int_or_string ki_from_ki_int_or_string(const ki_value *value)
{
    return ki_view_int_or_string(value, 0, NULL);
}

KI_VIEW_LIST_READ(ki_text)
KI_VIEW_LIST_READ(ki_int64)
KI_VIEW_LIST_READ(ki_bool)
KI_VIEW_LIST_READ(ki_double)
KI_VIEW_LIST_READ(ki_bytes)
KI_VIEW_LIST_READ(ki_quantity)
KI_VIEW_LIST_READ(ki_timestamp)
KI_VIEW_LIST_READ(ki_int_or_string)
KI_VIEW_LIST_READ(ki_value)
KI_VIEW_MAP_READ(ki_text)
KI_VIEW_MAP_READ(ki_int64)
KI_VIEW_MAP_READ(ki_bool)
KI_VIEW_MAP_READ(ki_double)
KI_VIEW_MAP_READ(ki_bytes)
KI_VIEW_MAP_READ(ki_quantity)
KI_VIEW_MAP_READ(ki_timestamp)
KI_VIEW_MAP_READ(ki_int_or_string)
KI_VIEW_MAP_READ(ki_value)
KI_VIEW_LIST_SET(ki_text, const char *, ki_place_set_text)
KI_VIEW_LIST_SET(ki_int64, int64_t, ki_place_set_int64)
KI_VIEW_LIST_SET(ki_bool, int, ki_place_set_bool)
KI_VIEW_LIST_SET(ki_double, double, ki_place_set_double)
KI_VIEW_LIST_SET(ki_bytes, ki_str, ki_place_set_bytes)
KI_VIEW_LIST_SET(ki_quantity, const char *, ki_place_set_quantity)
KI_VIEW_LIST_SET(ki_timestamp, ki_timestamp, ki_place_set_time)
KI_VIEW_LIST_SET(ki_int_or_string, ki_int_or_string, ki_place_set_int_or_string)
KI_VIEW_LIST_SET(ki_value, ki_value, ki_place_set_value)
KI_VIEW_MAP_SET(ki_text, const char *, ki_place_set_text)
KI_VIEW_MAP_COPY(ki_text, ki_place_copy_text)
KI_VIEW_MAP_SET(ki_int64, int64_t, ki_place_set_int64)
KI_VIEW_MAP_SET(ki_bool, int, ki_place_set_bool)
KI_VIEW_MAP_SET(ki_double, double, ki_place_set_double)
KI_VIEW_MAP_SET(ki_bytes, ki_str, ki_place_set_bytes)
KI_VIEW_MAP_SET(ki_quantity, const char *, ki_place_set_quantity)
KI_VIEW_MAP_COPY(ki_quantity, ki_place_copy_quantity)
KI_VIEW_MAP_SET(ki_timestamp, ki_timestamp, ki_place_set_time)
KI_VIEW_MAP_SET(ki_int_or_string, ki_int_or_string, ki_place_set_int_or_string)
KI_VIEW_MAP_SET(ki_value, ki_value, ki_place_set_value)
/* Of lists and maps of strings. */
KI_VIEW_INNER(ki_text_list)
KI_VIEW_INNER(ki_text_map)
KI_VIEW_LIST(ki_text_list)
KI_VIEW_LIST(ki_text_map)
KI_VIEW_MAP(ki_text_list)
KI_VIEW_MAP(ki_text_map)

/* ---- fields ---- */

/* Fields of the type that is KI_T. The names of fields are put together before anything else is
 * expanded: a field may have the name of a macro, such as stdin. */
#define KI_VIEW_NAME(T, suffix) KI_VIEW_NAME_OF(T, suffix)
#define KI_VIEW_NAME_OF(T, suffix) T##suffix

#define KI_VIEW_READ(R, read, function, has, get, number, name) \
    KI_VIEW_ATTRIBUTE                                           \
    static inline R KI_VIEW_NAME(KI_T, function)(KI_T view)     \
    {                                                           \
        return read(&view.value, KI_VIEW_FIELD(number, name));  \
    }                                                           \
    KI_VIEW_FIELD_OF(has, get, number, name)
#define KI_VIEW_READ_OR(R, read, otherwise, function, has, get, number, name) \
    KI_VIEW_ATTRIBUTE                                                         \
    static inline R KI_VIEW_NAME(KI_T, function)(KI_T view)                   \
    {                                                                         \
        return read(&view.value, KI_VIEW_FIELD(number, name), otherwise);     \
    }                                                                         \
    KI_VIEW_FIELD_OF(has, get, number, name)
#define KI_VIEW_WRAP(R, function, has, get, number, name)                      \
    KI_VIEW_ATTRIBUTE                                                          \
    static inline R KI_VIEW_NAME(KI_T, function)(KI_T view)                    \
    {                                                                          \
        R child;                                                               \
        child.value = ki_view_child(&view.value, KI_VIEW_FIELD(number, name)); \
        return child;                                                          \
    }                                                                          \
    KI_VIEW_FIELD_OF(has, get, number, name)
#define KI_VIEW_FIELD_OF(has, get, number, name)                                 \
    static inline bool KI_VIEW_NAME(KI_T, has)(KI_T view)                        \
    {                                                                            \
        return ki_view_has(&view.value, KI_VIEW_FIELD(number, name));            \
    }                                                                            \
    static inline int KI_VIEW_NAME(KI_T, get)(KI_T view, ki_value * ret_value)   \
    {                                                                            \
        return ki_view_get(&view.value, KI_VIEW_FIELD(number, name), ret_value); \
    }

/* For fields of each type; KI_VIEW_CHILD for messages, lists and maps. Those that end in _OR take
 * the default, those in _AS the name in JSON if C does not allow it. */
#define KI_VIEW_TEXT(f, number) \
    KI_VIEW_TEXT_FIELD(_##f, _has_##f, _get_##f, _set_##f, _remove_##f, _copy_##f, number, NULL, #f)
#define KI_VIEW_TEXT_OR(f, number, otherwise)                                              \
    KI_VIEW_TEXT_FIELD(_##f, _has_##f, _get_##f, _set_##f, _remove_##f, _copy_##f, number, \
                       otherwise, #f)
#define KI_VIEW_TEXT_AS(f, number, name)                                                         \
    KI_VIEW_TEXT_FIELD(_##f, _has_##f, _get_##f, _set_##f, _remove_##f, _copy_##f, number, NULL, \
                       name)
#define KI_VIEW_TEXT_OR_AS(f, number, otherwise, name)                                     \
    KI_VIEW_TEXT_FIELD(_##f, _has_##f, _get_##f, _set_##f, _remove_##f, _copy_##f, number, \
                       otherwise, name)
#define KI_VIEW_TEXT_FIELD(function, has, get, set, remove, copy, number, otherwise, name) \
    KI_VIEW_READ_OR(ki_text, ki_view_text, otherwise, function, has, get, number, name)    \
    KI_VIEW_COPY(ki_text, ki_place_copy_text, copy, name)                                  \
    KI_VIEW_SET(const char *, ki_place_set_text, set, remove, name)
#define KI_VIEW_BOOL(f, number) \
    KI_VIEW_BOOL_FIELD(_##f, _has_##f, _get_##f, _set_##f, _remove_##f, number, false, #f)
#define KI_VIEW_BOOL_OR(f, number, otherwise) \
    KI_VIEW_BOOL_FIELD(_##f, _has_##f, _get_##f, _set_##f, _remove_##f, number, otherwise, #f)
#define KI_VIEW_BOOL_AS(f, number, name) \
    KI_VIEW_BOOL_FIELD(_##f, _has_##f, _get_##f, _set_##f, _remove_##f, number, false, name)
#define KI_VIEW_BOOL_OR_AS(f, number, otherwise, name) \
    KI_VIEW_BOOL_FIELD(_##f, _has_##f, _get_##f, _set_##f, _remove_##f, number, otherwise, name)
#define KI_VIEW_BOOL_FIELD(function, has, get, set, remove, number, otherwise, name) \
    KI_VIEW_READ_OR(bool, ki_view_bool, otherwise, function, has, get, number, name) \
    KI_VIEW_SET(int, ki_place_set_bool, set, remove, name)
#define KI_VIEW_INT32(f, number) \
    KI_VIEW_INT32_FIELD(_##f, _has_##f, _get_##f, _set_##f, _remove_##f, number, 0, #f)
#define KI_VIEW_INT32_OR(f, number, otherwise) \
    KI_VIEW_INT32_FIELD(_##f, _has_##f, _get_##f, _set_##f, _remove_##f, number, otherwise, #f)
#define KI_VIEW_INT32_AS(f, number, name) \
    KI_VIEW_INT32_FIELD(_##f, _has_##f, _get_##f, _set_##f, _remove_##f, number, 0, name)
#define KI_VIEW_INT32_OR_AS(f, number, otherwise, name) \
    KI_VIEW_INT32_FIELD(_##f, _has_##f, _get_##f, _set_##f, _remove_##f, number, otherwise, name)
#define KI_VIEW_INT32_FIELD(function, has, get, set, remove, number, otherwise, name)    \
    KI_VIEW_READ_OR(int32_t, ki_view_int32, otherwise, function, has, get, number, name) \
    KI_VIEW_SET(int32_t, ki_place_set_int64, set, remove, name)
#define KI_VIEW_INT64(f, number) \
    KI_VIEW_INT64_FIELD(_##f, _has_##f, _get_##f, _set_##f, _remove_##f, number, 0, #f)
#define KI_VIEW_INT64_OR(f, number, otherwise) \
    KI_VIEW_INT64_FIELD(_##f, _has_##f, _get_##f, _set_##f, _remove_##f, number, otherwise, #f)
#define KI_VIEW_INT64_AS(f, number, name) \
    KI_VIEW_INT64_FIELD(_##f, _has_##f, _get_##f, _set_##f, _remove_##f, number, 0, name)
#define KI_VIEW_INT64_OR_AS(f, number, otherwise, name) \
    KI_VIEW_INT64_FIELD(_##f, _has_##f, _get_##f, _set_##f, _remove_##f, number, otherwise, name)
#define KI_VIEW_INT64_FIELD(function, has, get, set, remove, number, otherwise, name)    \
    KI_VIEW_READ_OR(int64_t, ki_view_int64, otherwise, function, has, get, number, name) \
    KI_VIEW_SET(int64_t, ki_place_set_int64, set, remove, name)
#define KI_VIEW_DOUBLE(f, number) \
    KI_VIEW_DOUBLE_FIELD(_##f, _has_##f, _get_##f, _set_##f, _remove_##f, number, 0, #f)
#define KI_VIEW_DOUBLE_OR(f, number, otherwise) \
    KI_VIEW_DOUBLE_FIELD(_##f, _has_##f, _get_##f, _set_##f, _remove_##f, number, otherwise, #f)
#define KI_VIEW_DOUBLE_AS(f, number, name) \
    KI_VIEW_DOUBLE_FIELD(_##f, _has_##f, _get_##f, _set_##f, _remove_##f, number, 0, name)
#define KI_VIEW_DOUBLE_OR_AS(f, number, otherwise, name) \
    KI_VIEW_DOUBLE_FIELD(_##f, _has_##f, _get_##f, _set_##f, _remove_##f, number, otherwise, name)
#define KI_VIEW_DOUBLE_FIELD(function, has, get, set, remove, number, otherwise, name)   \
    KI_VIEW_READ_OR(double, ki_view_double, otherwise, function, has, get, number, name) \
    KI_VIEW_SET(double, ki_place_set_double, set, remove, name)
#define KI_VIEW_BYTES(f, number)                                                \
    KI_VIEW_READ(ki_bytes, ki_view_bytes, _##f, _has_##f, _get_##f, number, #f) \
    KI_VIEW_SET(ki_str, ki_place_set_bytes, _set_##f, _remove_##f, #f)
#define KI_VIEW_BYTES_AS(f, number, name)                                         \
    KI_VIEW_READ(ki_bytes, ki_view_bytes, _##f, _has_##f, _get_##f, number, name) \
    KI_VIEW_SET(ki_str, ki_place_set_bytes, _set_##f, _remove_##f, name)
#define KI_VIEW_TIME(f, number)                                                    \
    KI_VIEW_READ(ki_timestamp, ki_view_time, _##f, _has_##f, _get_##f, number, #f) \
    KI_VIEW_SET(ki_timestamp, ki_place_set_time, _set_##f, _remove_##f, #f)
#define KI_VIEW_TIME_AS(f, number, name)                                             \
    KI_VIEW_READ(ki_timestamp, ki_view_time, _##f, _has_##f, _get_##f, number, name) \
    KI_VIEW_SET(ki_timestamp, ki_place_set_time, _set_##f, _remove_##f, name)
#define KI_VIEW_MICRO_TIME(f, number)                                              \
    KI_VIEW_READ(ki_timestamp, ki_view_time, _##f, _has_##f, _get_##f, number, #f) \
    KI_VIEW_SET(ki_timestamp, ki_place_set_micro_time, _set_##f, _remove_##f, #f)
#define KI_VIEW_MICRO_TIME_AS(f, number, name)                                       \
    KI_VIEW_READ(ki_timestamp, ki_view_time, _##f, _has_##f, _get_##f, number, name) \
    KI_VIEW_SET(ki_timestamp, ki_place_set_micro_time, _set_##f, _remove_##f, name)
#define KI_VIEW_DURATION(f, number)                                               \
    KI_VIEW_READ(int64_t, ki_view_duration, _##f, _has_##f, _get_##f, number, #f) \
    KI_VIEW_SET(int64_t, ki_place_set_duration, _set_##f, _remove_##f, #f)
#define KI_VIEW_DURATION_AS(f, number, name)                                        \
    KI_VIEW_READ(int64_t, ki_view_duration, _##f, _has_##f, _get_##f, number, name) \
    KI_VIEW_SET(int64_t, ki_place_set_duration, _set_##f, _remove_##f, name)
#define KI_VIEW_QUANTITY(f, number)                                                   \
    KI_VIEW_READ(ki_quantity, ki_view_quantity, _##f, _has_##f, _get_##f, number, #f) \
    KI_VIEW_COPY(ki_quantity, ki_place_copy_quantity, _copy_##f, #f)                  \
    KI_VIEW_SET(const char *, ki_place_set_quantity, _set_##f, _remove_##f, #f)
#define KI_VIEW_QUANTITY_AS(f, number, name)                                            \
    KI_VIEW_READ(ki_quantity, ki_view_quantity, _##f, _has_##f, _get_##f, number, name) \
    KI_VIEW_COPY(ki_quantity, ki_place_copy_quantity, _copy_##f, name)                  \
    KI_VIEW_SET(const char *, ki_place_set_quantity, _set_##f, _remove_##f, name)
#define KI_VIEW_INT_OR_STRING(f, number)                                                        \
    KI_VIEW_READ(ki_int_or_string, ki_view_int_or_string, _##f, _has_##f, _get_##f, number, #f) \
    KI_VIEW_SET(ki_int_or_string, ki_place_set_int_or_string, _set_##f, _remove_##f, #f)
#define KI_VIEW_INT_OR_STRING_AS(f, number, name)                                                 \
    KI_VIEW_READ(ki_int_or_string, ki_view_int_or_string, _##f, _has_##f, _get_##f, number, name) \
    KI_VIEW_SET(ki_int_or_string, ki_place_set_int_or_string, _set_##f, _remove_##f, name)
#define KI_VIEW_VALUE(f, number)                                                \
    KI_VIEW_READ(ki_value, ki_view_child, _##f, _has_##f, _get_##f, number, #f) \
    KI_VIEW_COPY(ki_str, ki_place_set_json, _set_##f##_json, #f)                \
    KI_VIEW_SET(ki_value, ki_place_set_value, _set_##f, _remove_##f, #f)
#define KI_VIEW_VALUE_AS(f, number, name)                                         \
    KI_VIEW_READ(ki_value, ki_view_child, _##f, _has_##f, _get_##f, number, name) \
    KI_VIEW_COPY(ki_str, ki_place_set_json, _set_##f##_json, name)                \
    KI_VIEW_SET(ki_value, ki_place_set_value, _set_##f, _remove_##f, name)
#define KI_VIEW_CHILD(f, number, R)                       \
    KI_VIEW_WRAP(R, _##f, _has_##f, _get_##f, number, #f) \
    KI_VIEW_DESCEND(R, _edit_##f, _set_##f, _remove_##f, #f)
#define KI_VIEW_CHILD_AS(f, number, R, name)                \
    KI_VIEW_WRAP(R, _##f, _has_##f, _get_##f, number, name) \
    KI_VIEW_DESCEND(R, _edit_##f, _set_##f, _remove_##f, name)

/* T_f_by_KEY() of a list: R is the type of its elements, and key_number the field of `key`. */
#define KI_VIEW_KEYED(f, R, key, key_number)                 \
    KI_VIEW_FIND(R, _##f##_by_##key, _##f, key_number, #key) \
    KI_VIEW_REACH(R, _edit_##f##_by_##key, _edit_##f, #key)
#define KI_VIEW_FIND(R, function, list, key_number, name)                                   \
    KI_VIEW_ATTRIBUTE                                                                       \
    static inline R KI_VIEW_NAME(KI_T, function)(KI_T view, const char *key)                \
    {                                                                                       \
        R element;                                                                          \
        element.value = KI_VIEW_NAME(KI_T, list)(view).value;                               \
        element.value = ki_view_find(&element.value, KI_VIEW_FIELD(key_number, name), key); \
        return element;                                                                     \
    }

/* ---- paths ---- */

/** A path as text, for ki_path_compile(), ki_object_at() and the like, of which the compiler checks
 *  that it leads to a field of the kind: KI_PATH(core_v1, Pod, spec.containers[0].image). A
 *  constant expression. [*] is not one of C: spec.containers->image is the same as
 *  spec.containers[*].image, and checked. Fields below keys of maps cannot be checked, nor types
 *  inside themselves. These macros are for C only. */
#define KI_PATH(group_version, Kind, path) \
    (#path + 0 * sizeof(ki_paths_##group_version##_##Kind.path))

/** Likewise up to 12 paths, separated by commas, for `keep` and `drop` of informers:
 *  KI_PATHS(core_v1, Pod, spec.nodeName, status.containerStatuses->ready). */
#define KI_PATHS(group_version, Kind, ...) \
    (#__VA_ARGS__ + 0 * sizeof(KI_PATHS_OF(ki_paths_##group_version##_##Kind, __VA_ARGS__)))

/** Likewise with a literal behind the path, for field selectors:
 *  KI_FIELD(core_v1, Pod, spec.nodeName, "=node-7"). */
#define KI_FIELD(group_version, Kind, path, rest) \
    (#path rest + 0 * sizeof(ki_paths_##group_version##_##Kind.path))

#define KI_PATHS_OF(root, ...)                                                               \
    KI_PATHS_NTH(__VA_ARGS__, KI_PATHS_12, KI_PATHS_11, KI_PATHS_10, KI_PATHS_9, KI_PATHS_8, \
                 KI_PATHS_7, KI_PATHS_6, KI_PATHS_5, KI_PATHS_4, KI_PATHS_3, KI_PATHS_2,     \
                 KI_PATHS_1, ~)                                                              \
    (root, __VA_ARGS__)
#define KI_PATHS_NTH(a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, nth, ...) nth
#define KI_PATHS_1(root, path) sizeof(root.path)
#define KI_PATHS_2(root, path, ...) sizeof(root.path) + KI_PATHS_1(root, __VA_ARGS__)
#define KI_PATHS_3(root, path, ...) sizeof(root.path) + KI_PATHS_2(root, __VA_ARGS__)
#define KI_PATHS_4(root, path, ...) sizeof(root.path) + KI_PATHS_3(root, __VA_ARGS__)
#define KI_PATHS_5(root, path, ...) sizeof(root.path) + KI_PATHS_4(root, __VA_ARGS__)
#define KI_PATHS_6(root, path, ...) sizeof(root.path) + KI_PATHS_5(root, __VA_ARGS__)
#define KI_PATHS_7(root, path, ...) sizeof(root.path) + KI_PATHS_6(root, __VA_ARGS__)
#define KI_PATHS_8(root, path, ...) sizeof(root.path) + KI_PATHS_7(root, __VA_ARGS__)
#define KI_PATHS_9(root, path, ...) sizeof(root.path) + KI_PATHS_8(root, __VA_ARGS__)
#define KI_PATHS_10(root, path, ...) sizeof(root.path) + KI_PATHS_9(root, __VA_ARGS__)
#define KI_PATHS_11(root, path, ...) sizeof(root.path) + KI_PATHS_10(root, __VA_ARGS__)
#define KI_PATHS_12(root, path, ...) sizeof(root.path) + KI_PATHS_11(root, __VA_ARGS__)

KI_END_DECLS

#endif
