/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as the discovery responses of a server. The input is cut at NULs: the answer
 * to /api, that to /apis, a name to look up, and then answers for the group versions that are
 * wanted. What came of it must be whole: every resource is found by its full name and by its kind,
 * and all its names are such as a path may have. */
#include <kinformer/discovery.h>

#include "client/discovery/discovery_read.h"

static void must(bool condition)
{
    if (!condition) {
        __builtin_trap();
    }
}

static ki_str next_part(ki_str *rest)
{
    const char *end = rest->len != 0 ? memchr(rest->ptr, '\0', rest->len) : NULL;
    size_t len = end != NULL ? (size_t)(end - rest->ptr) : rest->len;
    ki_str part = ki_str_make(rest->ptr, len);
    size_t taken = end != NULL ? len + 1 : len;
    *rest = ki_str_make(rest->len != 0 ? rest->ptr + taken : NULL, rest->len - taken);
    return part;
}

static void check_error(int r, const ki_error *error)
{
    must(r < 0 && error->code == r && error->message[0] != '\0');
    must(memchr(error->message, '\0', sizeof(error->message)) != NULL);
}

static bool is_plain(const char *text)
{
    for (; *text != '\0'; text++) {
        bool letter = (*text >= 'a' && *text <= 'z') || (*text >= 'A' && *text <= 'Z');
        if (!letter && !(*text >= '0' && *text <= '9') && *text != '-' && *text != '.') {
            return false;
        }
    }
    return true;
}

static void check_resource(const ki_discovery *discovery, size_t index)
{
    const ki_resource *resource = ki_discovery_at(discovery, index, NULL);
    const ki_resource *found = NULL;
    must(is_plain(ki_resource_group(resource)) && is_plain(ki_resource_version(resource)));
    must(is_plain(ki_resource_name(resource)) && is_plain(ki_resource_kind(resource)));
    must(ki_resource_name(resource)[0] != '\0' && ki_resource_version(resource)[0] != '\0');
    ki_buf name;
    ki_buf_init(&name, NULL, 1024);
    must(ki_buf_add_text(&name, ki_resource_name(resource)) == 0);
    must(ki_buf_add_char(&name, '.') == 0);
    must(ki_buf_add_text(&name, ki_resource_version(resource)) == 0);
    must(ki_buf_add_char(&name, '.') == 0);
    must(ki_buf_add_text(&name, ki_resource_group(resource)) == 0);
    must(ki_discovery_find(discovery, ki_buf_text(&name), &found, NULL) == 0);
    must(strcmp(ki_resource_api_version(found), ki_resource_api_version(resource)) == 0);
    must(ki_discovery_find_kind(discovery, ki_resource_api_version(resource),
                                ki_resource_kind(resource), &found, NULL) == 0);
    must(strcmp(ki_resource_kind(found), ki_resource_kind(resource)) == 0);
    ki_buf_done(&name);
}

static void check(const ki_discovery *discovery, ki_str word)
{
    size_t count = ki_discovery_count(discovery);
    for (size_t i = 0; i < count; i++) {
        check_resource(discovery, i);
    }
    must(ki_discovery_at(discovery, count, NULL) == NULL);
    for (size_t i = 0; ki_discovery_failure_at(discovery, i) != NULL; i++) {
        must(ki_discovery_failure_at(discovery, i)[0] != '\0');
    }
    ki_buf name;
    ki_buf_init(&name, NULL, SIZE_MAX);
    must(ki_buf_add_str(&name, word) == 0);
    const ki_resource *resource = NULL;
    ki_error error = KI_ERROR_INIT;
    int r = ki_discovery_find(discovery, ki_buf_text(&name), &resource, &error);
    if (r < 0) {
        check_error(r, &error);
    }
    ki_buf_done(&name);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    ki_str rest = ki_str_make((const char *)bytes, len);
    ki__discovery_builder builder;
    ki__discovery_builder_init(&builder, NULL);
    for (int core = 1; core >= 0; core--) {
        ki_error error = KI_ERROR_INIT;
        int r = ki__discovery_read_groups(&builder, core != 0, next_part(&rest), &error);
        if (r < 0) {
            check_error(r, &error);
        }
    }
    ki_str word = next_part(&rest);
    for (size_t i = 0; i < builder.version_count; i++) {
        ki_error error = KI_ERROR_INIT;
        int r = 0;
        if (builder.versions[i].state == KI__DISCOVERY_WANTED) {
            r = ki__discovery_read_resources(&builder, i, next_part(&rest), &error);
        }
        if (r < 0) {
            check_error(r, &error);
        }
    }
    ki_discovery *discovery = NULL;
    must(ki__discovery_builder_finish(&builder, &discovery) == 0);
    check(discovery, word);
    ki_discovery_unref(discovery);
    ki__discovery_builder_done(&builder);
    return 0;
}
