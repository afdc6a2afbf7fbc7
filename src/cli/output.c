/* SPDX-License-Identifier: Apache-2.0 */
/* -o: output formats. */
#include "cli/output.h"

#include <string.h>

#include "cli/report_failure.h"
#include "cli/text.h"

static const struct {
    const char *name; /* ends with '=' if it takes a value */
    cli_format format;
} formats[] = {
    {"wide", CLI_FORMAT_WIDE},
    {"json", CLI_FORMAT_JSON},
    {"yaml", CLI_FORMAT_YAML},
    {"name", CLI_FORMAT_NAME},
    {"none", CLI_FORMAT_NONE},
    {"jsonpath=", CLI_FORMAT_JSONPATH},
    {"custom-columns=", CLI_FORMAT_CUSTOM},
};

static int read_value(const char *value, cli_output *output, ki_error *error)
{
    if (output->format == CLI_FORMAT_JSONPATH) {
        return cli_template_parse(value, &output->template, error);
    }
    if (output->format == CLI_FORMAT_CUSTOM) {
        return cli_columns_parse(value, &output->columns, error);
    }
    return 0;
}

int cli_output_parse(const char *text, cli_output *ret_output, ki_error *error)
{
    cli_output output = {.format = CLI_FORMAT_COLUMNS};
    if (text == NULL || text[0] == '\0') {
        *ret_output = output;
        return 0;
    }
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
        size_t len = strlen(formats[i].name);
        bool takes = formats[i].name[len - 1] == '=';
        if (takes ? strncmp(text, formats[i].name, len) == 0 : strcmp(text, formats[i].name) == 0) {
            output.format = formats[i].format;
            int r = read_value(text + len, &output, error);
            if (r == 0) {
                *ret_output = output;
            }
            return r;
        }
    }
    return cli_fail(error, KI_ERR_INVALID, "-o \"%s\": unknown format; must be " CLI_OUTPUT_HELP,
                    text);
}

void cli_output_done(cli_output *output)
{
    cli_template_free(output->template);
    output->template = NULL;
    cli_columns_done(&output->columns);
}

void cli_put_resource(ki_buf *out, const ki_resource *resource)
{
    cli_put(out, ki_resource_name(resource));
    cli_put(out, ki_resource_group(resource)[0] != '\0' ? "." : "");
    cli_put(out, ki_resource_group(resource));
}

void cli_put_name(ki_buf *out, const ki_resource *resource, const ki_object *object)
{
    cli_put_kind(out, resource);
    cli_put_char(out, '/');
    cli_put_escaped(out, ki_str_from(ki_object_name(object)));
}
