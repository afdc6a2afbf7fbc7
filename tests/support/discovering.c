/* SPDX-License-Identifier: Apache-2.0 */
#include "support/discovering.h"

#include <errno.h>
#include <stdio.h>

#include "client/discovery/discovery_read.h"
#include "support/test.h"

static FILE *open_file(const char *name)
{
    char path[1024];
    (void)snprintf(path, sizeof(path), "%s/data/discovery/%s.json", TEST_SOURCE_DIR, name);
    return fopen(path, "rb");
}

static void read_file(FILE *file, ki_buf *ret_content)
{
    char bytes[4096];
    size_t len;
    ki_buf_init(ret_content, NULL, 1 << 20);
    while ((len = fread(bytes, 1, sizeof(bytes), file)) != 0) {
        assert_int_equal(ki_buf_add(ret_content, bytes, len), 0);
    }
    fclose(file);
}

void test_discovery_file(const char *name, ki_buf *ret_content)
{
    FILE *file = open_file(name);
    if (file == NULL) {
        fail_msg("%s: no such file", name);
    }
    read_file(file, ret_content);
}

static int read_groups(ki__discovery_builder *builder, bool core, const char *name)
{
    ki_buf body;
    ki_error error = KI_ERROR_INIT;
    test_discovery_file(name, &body);
    int r = ki__discovery_read_groups(builder, core, ki_buf_str(&body), &error);
    ki_buf_done(&body);
    if (r < 0 && r != -ENOMEM) {
        fail_msg("%s: %s", name, error.message);
    }
    return r;
}

static int finish(ki__discovery_builder *builder, int r, ki_discovery **ret_discovery)
{
    if (r == 0) {
        r = ki__discovery_builder_finish(builder, ret_discovery);
        assert_true(r == 0 || r == -ENOMEM);
    }
    ki__discovery_builder_done(builder);
    return r;
}

int test_discovery_aggregated(const ki_alloc *alloc, ki_discovery **ret_discovery)
{
    ki__discovery_builder builder;
    ki__discovery_builder_init(&builder, alloc);
    int r = read_groups(&builder, false, "apis"); /* core last: it goes first all the same */
    if (r == 0) {
        r = read_groups(&builder, true, "api");
    }
    return finish(&builder, r, ret_discovery);
}

static int read_version(ki__discovery_builder *builder, size_t number)
{
    char name[400];
    ki_error error = KI_ERROR_INIT;
    const char *group = ki__discovery_builder_text(builder, builder->versions[number].group);
    const char *version = ki__discovery_builder_text(builder, builder->versions[number].version);
    (void)snprintf(name, sizeof(name), "legacy_%s%s_%s", group[0] != '\0' ? "apis_" : "api", group,
                   version);
    FILE *file = open_file(name);
    if (file == NULL) {
        builder->versions[number].state = KI__DISCOVERY_FAILED;
        return 0;
    }
    ki_buf body;
    read_file(file, &body);
    int r = ki__discovery_read_resources(builder, number, ki_buf_str(&body), &error);
    ki_buf_done(&body);
    if (r < 0 && r != -ENOMEM) {
        fail_msg("%s: %s", name, error.message);
    }
    return r;
}

int test_discovery_legacy(const ki_alloc *alloc, ki_discovery **ret_discovery)
{
    ki__discovery_builder builder;
    ki__discovery_builder_init(&builder, alloc);
    int r = read_groups(&builder, true, "legacy_api");
    if (r == 0) {
        r = read_groups(&builder, false, "legacy_apis");
    }
    for (size_t i = builder.version_count; r == 0 && i-- > 0;) {
        r = read_version(&builder, i);
    }
    return finish(&builder, r, ret_discovery);
}
