/* SPDX-License-Identifier: Apache-2.0 */
/* A C++17 program against the installed library: prints the version of the library it runs with. */
#include <cstdio>
#include <memory>

#include <kinformer/kinformer.h>

int main()
{
    if (ki_version_num() != KI_VERSION_NUM) {
        return 1;
    }
    ki_buf buf;
    ki_buf_init(&buf, nullptr, 64);
    int r = ki_buf_add_text(&buf, ki_version());
    if (r < 0) {
        std::fprintf(stderr, "%s\n", ki_error_text(r));
        return 1;
    }
    std::puts(ki_buf_text(&buf));
    ki_buf_done(&buf);

    ki_error error = KI_ERROR_INIT;
    ki_object_options options = KI_OPTIONS_INIT(ki_object_options);
    options.max_bytes = 1024;
    return error.code == 0 && options.size == sizeof(options) ? 0 : 1;
}
