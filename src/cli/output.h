/* SPDX-License-Identifier: Apache-2.0 */
/* -o: output formats. */
#ifndef KI_CLI_OUTPUT_H
#define KI_CLI_OUTPUT_H

#include <kinformer/object.h>
#include <kinformer/resource.h>

#include "cli/columns.h"
#include "cli/template.h"

#define CLI_OUTPUT_VALUE "FORMAT"
#define CLI_OUTPUT_HELP "wide, json, yaml, name, none, jsonpath=PATH, custom-columns=SPEC"

typedef enum cli_format {
    CLI_FORMAT_COLUMNS,
    CLI_FORMAT_WIDE,
    CLI_FORMAT_JSON,
    CLI_FORMAT_YAML,
    CLI_FORMAT_NAME,
    CLI_FORMAT_JSONPATH,
    CLI_FORMAT_CUSTOM,
    CLI_FORMAT_NONE,
    CLI_FORMAT_MAX
} cli_format;

typedef struct cli_output {
    cli_format format;
    cli_template *template; /* of CLI_FORMAT_JSONPATH */
    cli_columns columns;    /* of CLI_FORMAT_CUSTOM */
} cli_output;

/** Parses -o; NULL means columns.
 *  Owner: cli_output_done().  Errors: KI_ERR_INVALID etc., with a message for the user. */
KI_NODISCARD int cli_output_parse(const char *text, cli_output *ret_output, ki_error *error);
void cli_output_done(cli_output *output);

/** Appends a name in kubectl's form: "pod/web", "deployment.apps/web". */
void cli_put_name(ki_buf *out, const ki_resource *resource, const ki_object *object);

/** Appends a resource name as used on the command line: "pods", "deployments.apps". */
void cli_put_resource(ki_buf *out, const ki_resource *resource);

#endif
