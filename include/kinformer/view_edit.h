/* SPDX-License-Identifier: Apache-2.0 */
/* Writing through typed views: changes of an edit (<kinformer/edit.h>) by C functions instead of by
 * path, checked by the compiler. Part of <kinformer/view.h>, which generated headers include.
 *
 *   ki_apps_v1_Deployment_edit deployment = ki_apps_v1_Deployment_edit_of(edit);
 *   ki_apps_v1_DeploymentSpec_edit spec = ki_apps_v1_Deployment_edit_spec(deployment);
 *   ki_apps_v1_DeploymentSpec_set_replicas(spec, 3);
 *   r = ki_edit_merge_patch(edit, &patch, &error);
 *
 * A T_edit is a place in the object of an edit: a small value that owns nothing. For kinds `T`:
 *   T_edit_of(edit)       the object of the edit; it must be of this kind, or have none yet
 *   T_edit_new(edit, namespace, name)
 *                         the same, and sets name and namespace, which may be NULL: objects from
 *                         nothing, for server-side apply; `edit` started from NULL
 * For each field `f` of a type `T`, with `at` a T_edit:
 *   T_set_f(at, value)    sets it. Strings and quantities are C strings, bytes ki_str; messages,
 *                         lists and maps are copies of views, in either encoding. Booleans are
 *                         int, to which C converts no string. Times are written as Go writes them:
 *                         in UTC and whole seconds, in microseconds only for the type MicroTime
 *   T_copy_f(at, text)    of strings and quantities: sets it to what a view has
 *   T_set_f_json(at, json)  of fields that are any JSON: sets it to JSON text
 *   T_edit_f(at)          of messages, lists and maps: its place, created empty if it is missing
 *   T_edit_f_by_KEY(at, key)  of lists of maps with a key: the place of the element, which is
 *                         appended if it is missing
 *   T_remove_f(at)        removes it, if it is present
 * For lists and maps, with `at` a T_list_edit or T_map_edit:
 *   T_list_append(at), T_list_append(at, value)  appends an element: messages are filled afterwards
 *   T_list_edit_at(at, index)                    the place of an element that is a message
 *   T_list_remove_at(at, index)                  removes an element
 *   T_map_set(at, key, value), T_map_copy(at, key, text), T_map_edit_at(at, key),
 *   T_map_remove(at, key)                        as for fields
 *
 * Errors are sticky, as of all changes of an edit: none of these functions returns one, and after
 * one has failed the others have no effect. In addition to those of edit.h:
 *   KI_ERR_TYPE       the object is of another kind, or has a value of another type at the place;
 *   KI_ERR_INVALID    not a quantity; an empty view;
 *   KI_ERR_RANGE      a number that is not finite; a year that is not one of 0 to 9999;
 *   KI_ERR_NOT_FOUND  no element has this index, or the place was removed or replaced.
 * Places are valid as long as their edit, and belong to the same thread. No function blocks.
 * Since: 0.1 */
#ifndef KINFORMER_VIEW_EDIT_H
#define KINFORMER_VIEW_EDIT_H

#include <kinformer/defs.h>
#include <kinformer/str.h>
#include <kinformer/value.h>

KI_BEGIN_DECLS

struct ki_edit;
struct ki_text;
struct ki_quantity;
struct ki_timestamp;
struct ki_int_or_string;

/* ---- the interface of generated headers ---- */

/** A map or list of the object of an edit. Private members. */
typedef struct ki_place {
    struct ki_edit *edit;
    uint32_t node;
} ki_place;

/** Returns the whole object, whose kind is checked, or set if there is none. An api_version of NULL
 *  allows any.  Since: 0.1 */
KI_API ki_place ki_place_root(struct ki_edit *edit, const char *api_version, const char *kind);
/** Likewise, and sets name and namespace unless NULL.  Since: 0.1 */
KI_API ki_place ki_place_new(struct ki_edit *edit, const char *api_version, const char *kind,
                             const char *ns, const char *name);

/** Return the map or list that is the member `name` of a map, created empty if missing or null. A
 *  `name` of NULL appends to the list at the place.  Since: 0.1 */
KI_API ki_place ki_place_map(ki_place at, const char *name);
KI_API ki_place ki_place_list(ki_place at, const char *name);
/** Returns an element of a list, which must be a map.  Since: 0.1 */
KI_API ki_place ki_place_element(ki_place list, size_t index);
/** Returns the first element of a list whose member `name` is the string `key`, appended with that
 *  member if missing.  Since: 0.1 */
KI_API ki_place ki_place_find(ki_place list, const char *name, const char *key);

/* Set the member `name` of a map; a `name` of NULL appends to the list at the place.
 * Since: 0.1 */
KI_API void ki_place_set_text(ki_place at, const char *name, const char *text);
KI_API void ki_place_set_bool(ki_place at, const char *name, bool flag);
KI_API void ki_place_set_int64(ki_place at, const char *name, int64_t number);
KI_API void ki_place_set_double(ki_place at, const char *name, double number);
KI_API void ki_place_set_bytes(ki_place at, const char *name, ki_str bytes);
KI_API void ki_place_set_time(ki_place at, const char *name, struct ki_timestamp time);
KI_API void ki_place_set_micro_time(ki_place at, const char *name, struct ki_timestamp time);
KI_API void ki_place_set_duration(ki_place at, const char *name, int64_t nanoseconds);
KI_API void ki_place_set_quantity(ki_place at, const char *name, const char *quantity);
KI_API void ki_place_set_int_or_string(ki_place at, const char *name,
                                       struct ki_int_or_string value);
KI_API void ki_place_set_value(ki_place at, const char *name, ki_value value);
KI_API void ki_place_set_json(ki_place at, const char *name, ki_str json);
KI_API void ki_place_copy_text(ki_place at, const char *name, struct ki_text text);
KI_API void ki_place_copy_quantity(ki_place at, const char *name, struct ki_quantity quantity);

/** Remove a member of a map, which may be missing, or an element of a list.  Since: 0.1 */
KI_API void ki_place_remove(ki_place at, const char *name);
KI_API void ki_place_remove_at(ki_place list, size_t index);

/* ---- lists and maps ---- */

/* ki_edit_T(at, name) makes the place of a member. */
#define KI_VIEW_PLACE(T, place_of)                                    \
    typedef struct T##_edit {                                         \
        ki_place place;                                               \
    } T##_edit;                                                       \
    static inline T##_edit ki_edit_##T(ki_place at, const char *name) \
    {                                                                 \
        T##_edit child;                                               \
        child.place = place_of(at, name);                             \
        return child;                                                 \
    }
#define KI_VIEW_LIST_PLACE(T)                                             \
    KI_VIEW_PLACE(T##_list, ki_place_list)                                \
    static inline void T##_list_remove_at(T##_list_edit at, size_t index) \
    {                                                                     \
        ki_place_remove_at(at.place, index);                              \
    }
#define KI_VIEW_MAP_PLACE(T)                                            \
    KI_VIEW_PLACE(T##_map, ki_place_map)                                \
    static inline void T##_map_remove(T##_map_edit at, const char *key) \
    {                                                                   \
        ki_place_remove(at.place, key != NULL ? key : "");              \
    }

/* Of messages. */
#define KI_VIEW_LIST_EDIT(T)                                                \
    KI_VIEW_LIST_PLACE(T)                                                   \
    static inline T##_edit T##_list_append(T##_list_edit at)                \
    {                                                                       \
        return ki_edit_##T(at.place, NULL);                                 \
    }                                                                       \
    static inline T##_edit T##_list_edit_at(T##_list_edit at, size_t index) \
    {                                                                       \
        T##_edit element;                                                   \
        element.place = ki_place_element(at.place, index);                  \
        return element;                                                     \
    }
#define KI_VIEW_MAP_EDIT(T)                                                  \
    KI_VIEW_MAP_PLACE(T)                                                     \
    static inline T##_edit T##_map_edit_at(T##_map_edit at, const char *key) \
    {                                                                        \
        return ki_edit_##T(at.place, key != NULL ? key : "");                \
    }

/* Of values of the C type V. */
#define KI_VIEW_LIST_SET(T, V, set)                               \
    KI_VIEW_LIST_PLACE(T)                                         \
    static inline void T##_list_append(T##_list_edit at, V value) \
    {                                                             \
        set(at.place, NULL, value);                               \
    }
#define KI_VIEW_MAP_SET(T, V, set)                                            \
    KI_VIEW_MAP_PLACE(T)                                                      \
    static inline void T##_map_set(T##_map_edit at, const char *key, V value) \
    {                                                                         \
        set(at.place, key != NULL ? key : "", value);                         \
    }
#define KI_VIEW_MAP_COPY(T, copy)                                              \
    static inline void T##_map_copy(T##_map_edit at, const char *key, T value) \
    {                                                                          \
        copy(at.place, key != NULL ? key : "", value);                         \
    }

/* ---- fields ---- */

/* Of the type that is KI_T. KI_VIEW_ATTRIBUTE is before functions that read or set a field: headers
 * define it as KI_DEPRECATED for some. */
#define KI_VIEW_ATTRIBUTE

#define KI_VIEW_SET(V, put, set, remove, name)                                        \
    KI_VIEW_ATTRIBUTE                                                                 \
    static inline void KI_VIEW_NAME(KI_T, set)(KI_VIEW_NAME(KI_T, _edit) at, V value) \
    {                                                                                 \
        put(at.place, name, value);                                                   \
    }                                                                                 \
    static inline void KI_VIEW_NAME(KI_T, remove)(KI_VIEW_NAME(KI_T, _edit) at)       \
    {                                                                                 \
        ki_place_remove(at.place, name);                                              \
    }
#define KI_VIEW_COPY(V, put, copy, name)                                               \
    KI_VIEW_ATTRIBUTE                                                                  \
    static inline void KI_VIEW_NAME(KI_T, copy)(KI_VIEW_NAME(KI_T, _edit) at, V value) \
    {                                                                                  \
        put(at.place, name, value);                                                    \
    }
#define KI_VIEW_DESCEND(R, edit, set, remove, name)                                  \
    KI_VIEW_ATTRIBUTE                                                                \
    static inline R##_edit KI_VIEW_NAME(KI_T, edit)(KI_VIEW_NAME(KI_T, _edit) at)    \
    {                                                                                \
        return ki_edit_##R(at.place, name);                                          \
    }                                                                                \
    KI_VIEW_ATTRIBUTE                                                                \
    static inline void KI_VIEW_NAME(KI_T, set)(KI_VIEW_NAME(KI_T, _edit) at, R view) \
    {                                                                                \
        ki_place_set_value(at.place, name, view.value);                              \
    }                                                                                \
    static inline void KI_VIEW_NAME(KI_T, remove)(KI_VIEW_NAME(KI_T, _edit) at)      \
    {                                                                                \
        ki_place_remove(at.place, name);                                             \
    }
#define KI_VIEW_REACH(R, function, list, key_name)                                        \
    KI_VIEW_ATTRIBUTE                                                                     \
    static inline R##_edit KI_VIEW_NAME(KI_T, function)(KI_VIEW_NAME(KI_T, _edit) at,     \
                                                        const char *key)                  \
    {                                                                                     \
        R##_edit element;                                                                 \
        element.place = ki_place_find(KI_VIEW_NAME(KI_T, list)(at).place, key_name, key); \
        return element;                                                                   \
    }

KI_END_DECLS

#endif
