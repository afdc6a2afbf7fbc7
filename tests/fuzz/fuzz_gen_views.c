/* SPDX-License-Identifier: Apache-2.0 */
/* The input is YAML or JSON with CustomResourceDefinitions. The header of gen-views must be the
 * same twice, and must have nothing of the input but identifiers, numbers, and strings with
 * escapes. */
#include <stdint.h>
#include <string.h>

#include "cli/genviews/definitions.h"
#include "cli/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool condition)
{
    if (!condition) {
        __builtin_trap();
    }
}

static int generate(ki_str text, ki_buf *out)
{
    cli_view_model model;
    ki_error error = KI_ERROR_INIT;
    cli_text_init(out);
    cli_view_model_init(&model, NULL);
    int r = cli_definitions_parse(&model, text, "input", &error);
    r = r == 0 ? cli_view_model_build(&model, &error) : r;
    r = r == 0 ? cli_view_model_write(&model, NULL, out, &error) : r;
    must(r == 0 || (r < 0 && error.code == r && error.message[0] != '\0'));
    cli_view_model_done(&model);
    return r;
}

static bool starts_with(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* After '"': behind the string. Escapes have three digits. */
static const char *skip_string(const char *p)
{
    for (; *p != '"'; p++) {
        must(*p >= ' ' && *p <= '~' && *p != '?');
        if (*p == '\\') {
            for (int i = 1; i <= 3; i++) {
                must(p[i] >= '0' && p[i] <= '7');
            }
            p += 3;
        }
    }
    return p + 1;
}

/* Which directives there may be. */
static void check_directive(const char *p)
{
    static const char *const known[] = {"#if !defined(KI_VIEWS_",
                                        "#ifndef KI_VIEW_AGAIN\n",
                                        "#define KI_",
                                        "#include <kinformer/",
                                        "#ifdef __cplusplus\n",
                                        "#ifndef __cplusplus\n",
                                        "#endif\n",
                                        "#undef KI_T\n",
                                        "#if defined(__cplusplus) && !defined(KI_VIEW_AGAIN)\n"};
    bool found = false;
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        found = found || starts_with(p, known[i]);
    }
    must(found);
}

static void check_header(const char *p)
{
    bool begins = true;
    while (*p != '\0') {
        must(*p == '\n' || (*p >= ' ' && *p <= '~'));
        if (begins && *p == '#') {
            check_directive(p);
        }
        begins = *p == '\n';
        if (starts_with(p, "/*")) {
            const char *end = strstr(p + 2, "*/");
            const char *inner = strstr(p + 2, "/*");
            must(end != NULL && (inner == NULL || inner > end));
            p = end + 2;
        } else if (*p == '"') {
            p = skip_string(p + 1);
        } else {
            must(*p != '\'' && *p != '`' && *p != '@' && *p != '$' && *p != '%');
            must(*p != '\\' || p[1] == '\n');
            p++;
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ki_str text = ki_str_make((const char *)data, size);
    ki_buf first;
    ki_buf second;
    int r = generate(text, &first);
    must(generate(text, &second) == r);
    must(ki_str_eq(ki_buf_str(&first), ki_buf_str(&second)));
    if (r == 0) {
        check_header(ki_buf_text(&first));
    }
    ki_buf_done(&first);
    ki_buf_done(&second);
    return 0;
}
