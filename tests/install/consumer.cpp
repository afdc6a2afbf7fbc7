/* SPDX-License-Identifier: Apache-2.0 */
/* A C++17 program against the installed library and its C++ header: keeps an object in a store with
 * an index, finds it in a snapshot, and prints the version of the library it runs with. */
#include <iostream>

#include <kinformer/kinformer.hpp>
#include <kinformer/parts/store_write.h>

static ki::store new_store()
{
    auto index = ki::options<ki_index>();
    ki_index_by_namespace(&index);
    const ki_index *const indexes[] = {&index};
    auto options = ki::options<ki_store_options>();
    options.indexes = indexes;
    options.index_count = 1;
    ki_store *made = nullptr;
    if (int r = ki_store_new(&options, &made, nullptr); r < 0) {
        throw ki::error(r);
    }
    return ki::store(made);
}

int main()
try {
    auto options = ki::options<ki_object_options>();
    options.max_bytes = 1024;
    const auto pod = ki::object::from_json(
        R"({"kind": "Pod", "metadata": {"namespace": "n", "name": "a"}})", &options);
    const ki::store store = new_store();
    if (int r = ki_store_add(store.get(), pod.get(), nullptr); r < 0) {
        throw ki::error(r);
    }
    std::string keys;
    for (ki::object_ref found : store.snapshot().by_index(KI_INDEX_NAMESPACE, "n")) {
        keys += found.key();
    }
    std::cout << ki_version() << std::endl;
    return keys == "n/a" && ki_version_num() == KI_VERSION_NUM ? 0 : 1;
} catch (const ki::error &error) {
    std::cerr << error.what() << std::endl;
    return 1;
}
