/* SPDX-License-Identifier: Apache-2.0 */
/* A C++17 program against the installed library: prints the version of the library it runs with. */
#include <cstdio>
#include <memory>
#include <string_view>

#include <kinformer/kinformer.h>

struct unref {
    void operator()(ki_object *object) const
    {
        ki_object_unref(object);
    }
};

int main()
{
    constexpr std::string_view json = R"({"kind": "Pod", "metadata": {"name": "a"}})";
    ki_error error = KI_ERROR_INIT;
    ki_object_options options = KI_OPTIONS_INIT(ki_object_options);
    options.max_bytes = 1024;
    ki_object *made = nullptr;
    if (ki_object_from_json(json.data(), json.size(), &options, &made, &error) < 0) {
        std::fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    std::unique_ptr<ki_object, unref> pod(made);
    bool same = ki_str_eq_text(ki_str_from(ki_object_key(pod.get())), "a");
    std::puts(ki_version());
    return same && ki_version_num() == KI_VERSION_NUM ? 0 : 1;
}
