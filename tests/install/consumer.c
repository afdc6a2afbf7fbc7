/* SPDX-License-Identifier: Apache-2.0 */
/* A C11 program against the installed library: prints the version of the library it runs with. */
#include <stdio.h>

#include <kinformer/kinformer.h>

int main(void)
{
    if (ki_version_num() != KI_VERSION_NUM) {
        return 1;
    }
    ki_buf buf;
    ki_buf_init(&buf, NULL, 64);
    int r = ki_buf_add_text(&buf, ki_version());
    if (r < 0) {
        fprintf(stderr, "%s\n", ki_error_text(r));
        return 1;
    }
    puts(ki_buf_text(&buf));
    ki_buf_done(&buf);

    const ki_object_options *options = KI_OPTIONS(ki_object_options, .max_bytes = 1024);
    return options->size == sizeof(*options) ? 0 : 1;
}
