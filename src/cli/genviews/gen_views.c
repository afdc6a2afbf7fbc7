/* SPDX-License-Identifier: Apache-2.0 */
/* `kinformer gen-views`: typed views of custom resources. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/genviews/definitions.h"
#include "cli/report_failure.h"
#include "cli/term.h"
#include "cli/text.h"

enum { PREFIX_MAX = 64, FILES_MAX = 10000, FILE_MODE = 0666 };

typedef struct views_options {
    cli_words from_cluster;
    const char *prefix;
    const char *guard;
    const char *output;
} views_options;

#define AT(member) offsetof(views_options, member)

static const cli_option options[] = {
    {"from-cluster", 0, CLI_ARG_LIST, AT(from_cluster), "NAME",
     "read this CustomResourceDefinition from the server; repeatable"},
    {"prefix", 0, CLI_ARG_TEXT, AT(prefix), "WORD",
     "use WORD instead of the group in names: ki_WORD_v1_Kind"},
    {"output", 0, CLI_ARG_TEXT, AT(output), "FILE",
     "write this file, at once, instead of standard output"},
    {"guard", 0, CLI_ARG_TEXT, AT(guard), "MACRO",
     "include guard; default: made from the first kind"},
};

/* ---- the file ---- */

static int write_all(int fd, ki_str text)
{
    while (text.len > 0) {
        ssize_t n = write(fd, text.ptr, text.len);
        if (n < 0 && errno != EINTR) {
            return -errno;
        }
        if (n > 0) {
            text = ki_str_make(text.ptr + n, text.len - (size_t)n);
        }
    }
    return 0;
}

/* Writes a new file in the same directory and renames it, so that there is never a part of it. */
static int write_file(const char *path, ki_str text, ki_error *error)
{
    ki_buf name;
    cli_text_init(&name);
    cli_put(&name, path);
    cli_put(&name, ".XXXXXX");
    int fd = mkostemp(name.data, O_CLOEXEC);
    int r = fd < 0 ? -errno : write_all(fd, text);
    if (fd >= 0) {
        mode_t mask = umask(0);
        (void)umask(mask);
        r = r == 0 && fchmod(fd, FILE_MODE & ~mask) < 0 ? -errno : r;
        r = close(fd) < 0 && r == 0 ? -errno : r;
        r = r == 0 && rename(name.data, path) < 0 ? -errno : r;
        if (r < 0) {
            (void)unlink(name.data);
        }
    }
    ki_buf_done(&name);
    return r == 0 ? 0 : cli_fail(error, r, "%s: %s", path, strerror(-r));
}

/* ---- the command ---- */

static int check_options(const cli_call *call, ki_error *error)
{
    const views_options *o = call->options;
    if (call->operands.count == 0 && o->from_cluster.count == 0) {
        return cli_fail(error, KI_ERR_INVALID,
                        "'gen-views': argument missing: a file, or --from-cluster=NAME");
    }
    if (o->prefix != NULL) {
        size_t len = strlen(o->prefix);
        if (!cli_name_is_plain(ki_str_from(o->prefix)) || len > PREFIX_MAX) {
            return cli_fail(error, KI_ERR_INVALID,
                            "--prefix: must be letters, digits and _, at most %d", PREFIX_MAX);
        }
    }
    if (o->guard != NULL && !cli_name_is_plain(ki_str_from(o->guard))) {
        return cli_fail(error, KI_ERR_INVALID, "--guard: not a name of a macro");
    }
    return 0;
}

static int write_views(cli_view_model *model, const views_options *o, ki_error *error)
{
    ki_buf out;
    cli_text_init(&out);
    int r = cli_view_model_build(model, error);
    r = r == 0 ? cli_view_model_write(model, o->guard, &out, error) : r;
    if (r == 0 && o->output != NULL) {
        r = write_file(o->output, ki_buf_str(&out), error);
    } else if (r == 0) {
        cli_term_out(ki_buf_str(&out));
    }
    ki_buf_done(&out);
    return r;
}

static int run(cli_call *call)
{
    const views_options *o = call->options;
    cli_view_model model;
    ki_error error = KI_ERROR_INIT;
    int r = 0;
    int code = CLI_OK;
    if (check_options(call, &error) < 0) {
        return cli_usage_error(call->command, &error);
    }
    cli_view_model_init(&model, o->prefix);
    for (size_t i = 0; i < call->operands.count && r == 0; i++) {
        r = cli_definitions_read(&model, call->operands.items[i], &error);
    }
    if (r == 0 && o->from_cluster.count != 0) {
        code = cli_definitions_fetch(&model, &call->flags, &o->from_cluster);
    }
    if (r == 0 && code == CLI_OK) {
        r = write_views(&model, o, &error);
    }
    if (r < 0) {
        cli_report_error(&error);
        code = CLI_FAILED;
    }
    cli_view_model_done(&model);
    return code;
}

static void options_done(void *given)
{
    views_options *o = given;
    cli_words_done(&o->from_cluster);
}

const cli_command cli_command_gen_views = {
    .name = "gen-views",
    .operands = "[CRD.yaml...]",
    .summary = "write C and C++ accessors for custom resources",
    .about =
        "Writes a header with typed views, as <kinformer/view.h> describes them, for the kinds "
        "of\nCustomResourceDefinitions: from files, YAML or JSON, which may have other objects "
        "too\n(-: standard input), and from the server. Needs no server for files. The output "
        "depends\non the definitions alone.",
    .examples = "  kinformer gen-views --prefix example --output website.h crd.yaml\n"
                "  kinformer gen-views --from-cluster websites.example.com > website.h\n",
    .options = options,
    .option_count = sizeof(options) / sizeof(options[0]),
    .options_size = sizeof(views_options),
    .options_done = options_done,
    .connects = true,
    .operands_max = FILES_MAX,
    .run = run,
};
