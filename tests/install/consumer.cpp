/* SPDX-License-Identifier: Apache-2.0 */
/* A C++17 program against the installed library: keeps an object in a store with an index, finds it
 * in a snapshot, and prints the version of the library it runs with. */
#include <cstdio>
#include <memory>
#include <string_view>

#include <kinformer/kinformer.h>
#include <kinformer/parts/store_write.h>

template <auto function> struct release {
    template <typename T> void operator()(T *thing) const
    {
        function(thing);
    }
};
template <typename T, auto function> using holder = std::unique_ptr<T, release<function>>;

static int add(ki_store *store, std::string_view json, ki_error *error)
{
    ki_object_options options = KI_OPTIONS_INIT(ki_object_options);
    options.max_bytes = 1024;
    ki_object *made = nullptr;
    int r = ki_object_from_json(json.data(), json.size(), &options, &made, error);
    holder<ki_object, ki_object_unref> pod(made);
    return r < 0 ? r : ki_store_add(store, pod.get(), error);
}

static bool finds_pod(ki_store *store)
{
    holder<ki_snapshot, ki_snapshot_unref> snapshot(ki_store_snapshot(store));
    ki_snapshot_iter iter;
    if (ki_snapshot_iter_find(snapshot.get(), KI_INDEX_NAMESPACE, ki_str_from("n"), &iter) < 0) {
        return false;
    }
    const ki_object *pod = ki_snapshot_iter_next(&iter);
    return pod != nullptr && ki_str_eq_text(ki_str_from(ki_object_key(pod)), "n/a");
}

int main()
{
    ki_error error = KI_ERROR_INIT;
    ki_index index = KI_OPTIONS_INIT(ki_index);
    const ki_index *const indexes[] = {&index};
    if (ki_index_by_namespace(&index) < 0) {
        return 1;
    }
    ki_store_options options = KI_OPTIONS_INIT(ki_store_options);
    options.indexes = indexes;
    options.index_count = 1;
    ki_store *made = nullptr;
    int r = ki_store_new(&options, &made, &error);
    holder<ki_store, ki_store_unref> store(made);
    if (r >= 0) {
        r = add(made, R"({"kind": "Pod", "metadata": {"namespace": "n", "name": "a"}})", &error);
    }
    if (r < 0) {
        std::fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    std::puts(ki_version());
    return finds_pod(store.get()) && ki_version_num() == KI_VERSION_NUM ? 0 : 1;
}
