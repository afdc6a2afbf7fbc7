/* SPDX-License-Identifier: Apache-2.0 */
/* Macros for all public headers: visibility, attributes, options structs. */
#ifndef KINFORMER_DEFS_H
#define KINFORMER_DEFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#define KI_BEGIN_DECLS extern "C" {
#define KI_END_DECLS }
#else
#define KI_BEGIN_DECLS
#define KI_END_DECLS
#endif

#if defined(__GNUC__)
#define KI_API __attribute__((visibility("default")))
#define KI_NODISCARD __attribute__((warn_unused_result))
#define KI_DEPRECATED __attribute__((deprecated))
#define KI_PRINTF(format_index, first_arg) __attribute__((format(printf, format_index, first_arg)))
#else
#define KI_API
#define KI_NODISCARD
#define KI_DEPRECATED
#define KI_PRINTF(format_index, first_arg)
#endif

/* Types that many functions refer to and few programs use themselves; each has a header to include
 * by name: <kinformer/alloc.h>, <kinformer/buf.h>, <kinformer/clock.h>. */
typedef struct ki_alloc ki_alloc;
typedef struct ki_buf ki_buf;
typedef struct ki_clock ki_clock;
typedef struct ki_random ki_random;

/* Handles that are released automatically at the end of their block, with gcc and clang:
 *   KI_AUTO(ki_object) pod = ki_informer_get(pods, "shop", "web");
 * declares a `ki_object *` and calls ki_object_unref() for it, also on `return`. Always initialize
 * it. Available for all types with an unref function. Clients, controllers, leaders and recorders
 * are closed, which waits for them: ki_client_close() and so on. In headers, KI_AUTO_DEFINE() sets
 * the function that releases a type. */
#if defined(__GNUC__)
#define KI_AUTO(type) __attribute__((cleanup(type##_release_auto))) type *
#define KI_AUTO_DEFINE(type, release)                     \
    static inline void type##_release_auto(type **handle) \
    {                                                     \
        (void)release(*handle);                           \
    }
#else
#define KI_AUTO_DEFINE(type, release)
#endif

/* Returns the result of a call from the function if it is negative, an error. For functions whose
 * handles are KI_AUTO():
 *   KI_TRY(ki_client_start(client, error)); */
#define KI_TRY(call)                \
    do {                            \
        int ki_try_result = (call); \
        if (ki_try_result < 0) {    \
            return ki_try_result;   \
        }                           \
    } while (0)

/* Structs that programs fill or read: options, tables of callbacks, results, ki_error. Each begins
 * with `size`, its size when the program was compiled. In all other members of options zero means
 * the default. Structs that the library fills must be initialised as well. Ways to create one:
 *   ki_object_options options = KI_OPTIONS_INIT(ki_object_options);    C and C++; then set members
 *   KI_OPTIONS(ki_object_options, .max_bytes = 4096)                   C: pointer, for its block
 *   static ki_handler handler = {.size = sizeof(ki_handler)};          C: of static storage
 * This allows structs to grow: members that an older program does not have are taken as zero. A
 * newer program gets -E2BIG if it sets a member that this library does not have, and -EINVAL is
 * returned for an invalid size. A size of 0 means the struct of version 0.1. */
#ifdef __cplusplus
#define KI_OPTIONS_INIT(type)                             \
    ([] {                                                 \
        type ki_options_value{};                          \
        ki_options_value.size = sizeof(ki_options_value); \
        return ki_options_value;                          \
    }())
#else
#define KI_OPTIONS_INIT(type) ((type){.size = sizeof(type)})
#define KI_OPTIONS(type, ...) (&(type){.size = sizeof(type), __VA_ARGS__})
#endif

#endif
