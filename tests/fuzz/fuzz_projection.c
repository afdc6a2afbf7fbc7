/* SPDX-License-Identifier: Apache-2.0 */
/* The first eight bytes are the seed of a projection, the ninth says JSON or protobuf, two more the
 * kind of protobuf; the rest is an object. What is taken as a whole must be taken with the
 * projection, read as the paths say at each place, and be the same as the whole object projected
 * afterwards. What is refused as a whole must not harm. */
#include <stdlib.h>
#include <string.h>

#include "object/proto/schema.h"
#include "support/projecting.h"

enum { HEAD = 11 };

static void must(bool condition)
{
    if (!condition) {
        __builtin_trap();
    }
}

static int make(bool json, ki_str bytes, const ki_object_options *options, ki_object **ret_object)
{
    return json ? ki_object_from_json(bytes.ptr, bytes.len, options, ret_object, NULL)
                : ki_object_from_protobuf(bytes.ptr, bytes.len, options, ret_object, NULL);
}

static void check_same(const ki_object *full, const ki_projection *projection,
                       const ki_object *expected)
{
    ki_object *object = NULL;
    must(ki_object_project(full, projection, &object, NULL) == 0);
    ki_value a = ki_object_root(object);
    ki_value b = ki_object_root(expected);
    must(ki_object_encoding(full) != KI_ENCODING_JSON ||
         ki_str_eq(ki_object_bytes(object), ki_object_bytes(expected)));
    must(ki_value_type(&a) == ki_value_type(&b));
    ki_object_unref(object);
}

static void check_kept(const rules *all, const ki_object *full, const ki_object *part)
{
    const rule_place top = {.count = 0};
    ki_value left = ki_object_root(full);
    ki_value right = ki_object_root(part);
    must(strcmp(ki_object_key(full), ki_object_key(part)) == 0);
    must(strcmp(ki_object_uid(full), ki_object_uid(part)) == 0);
    must(strcmp(ki_object_resource_version(full), ki_object_resource_version(part)) == 0);
    must(strcmp(ki_object_kind(full), ki_object_kind(part)) == 0);
    must(rules_hold(all, &left, &right, &top));
    ki_buf text;
    ki_buf_init(&text, NULL, SAME_TEXT_MAX);
    must(ki_object_write_json(part, &text) == 0);
    ki_buf_done(&text);
}

static void run(uint64_t seed, bool json, ki_str bytes, ki_object_options *options)
{
    static rules all;
    static const char pod[] =
        "{\"kind\":\"Pod\",\"metadata\":{\"name\":\"a\",\"labels\":{\"x\":"
        "\"y\"}},\"spec\":{\"nodeName\":\"n\",\"containers\":[{\"name\":1}]}}";
    ki_object *full = NULL;
    ki_object *part = NULL;
    ki_object *known = NULL;
    ki_projection *projection = NULL;
    int r = make(json, bytes, options, &full);
    must(ki_object_from_json(pod, strlen(pod), NULL, &known, NULL) == 0);
    rules_random(&all, r == 0 ? full : known, &seed);
    if (ki_projection_new(all.keep, all.drop, NULL, &projection, NULL) == 0) {
        options->projection = projection;
        int s = make(json, bytes, options, &part);
        must(r < 0 || s == 0);
        if (r == 0 && ki_object_is_partial(part)) {
            check_kept(&all, full, part);
            check_same(full, projection, part);
        }
    }
    (void)ki_projection_unref(projection);
    ki_object_unref(known);
    ki_object_unref(full);
    ki_object_unref(part);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < HEAD) {
        return 0;
    }
    uint64_t seed;
    memcpy(&seed, data, sizeof(seed));
    bool json = data[8] % 2 == 0;
    size_t kind = (data[9] | (size_t)data[10] << 8) % ki__schema_kind_count;
    char *copy = malloc(size - HEAD + 1); /* so that reading past the end is found */
    must(copy != NULL);
    memcpy(copy, data + HEAD, size - HEAD);
    char names[2][256];
    for (size_t i = 0; i < 2; i++) {
        ki_str name = ki__schema_name(i == 0 ? ki__schema_kinds[kind].kind
                                             : ki__schema_kinds[kind].api_version);
        memcpy(names[i], name.ptr, name.len);
        names[i][name.len] = '\0';
    }
    ki_object_options options = KI_OPTIONS_INIT(ki_object_options);
    options.max_depth = 48;
    options.default_kind = names[0];
    options.default_api_version = names[1];
    char *exact = realloc(copy, size != HEAD ? size - HEAD : 1);
    run(seed, json, ki_str_make(exact != NULL ? exact : copy, size - HEAD), &options);
    free(exact != NULL ? exact : copy);
    return 0;
}
