/* SPDX-License-Identifier: Apache-2.0 */
/* `kinformer version`. */
#include <string.h>

#include <kinformer/version.h>

#include "cli/command.h"
#include "cli/report_failure.h"
#include "cli/term.h"
#include "cli/text.h"

typedef struct version_options {
    const char *output;
} version_options;

static const cli_option options[] = {
    {"output", 'o', CLI_ARG_TEXT, offsetof(version_options, output), "json", "as JSON"},
};

static int run(cli_call *call)
{
    const version_options *given = call->options;
    ki_buf out;
    if (given->output != NULL && strcmp(given->output, "json") != 0) {
        cli_say("version: -o must be json");
        return CLI_USAGE;
    }
    cli_text_init(&out);
    cli_putf(&out, given->output != NULL ? "{\"version\":\"%s\"}\n" : "kinformer %s\n",
             ki_version());
    cli_term_out(ki_buf_str(&out));
    ki_buf_done(&out);
    return CLI_OK;
}

const cli_command cli_command_version = {
    .name = "version",
    .operands = "",
    .summary = "print the version",
    .about = "Prints the version of the command and of its library.",
    .examples = "  kinformer version\n  kinformer version -o json\n",
    .options = options,
    .option_count = sizeof(options) / sizeof(options[0]),
    .options_size = sizeof(version_options),
    .run = run,
};
