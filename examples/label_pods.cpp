/* SPDX-License-Identifier: Apache-2.0 */
/* A controller in C++: labels every pod with the number of its containers, until Enter is pressed.
 */
#include <iostream>

#include <kinformer/kinformer.hpp>

static void label_pod(ki::client &client, const ki::object &pod)
{
    std::string images;
    for (const ki::value &container : pod.at("spec.containers")) {
        images += " " + container["image"].string_or("none");
    }
    ki::edit edit(pod);
    edit.label("containers", std::to_string(pod.at("spec.containers").size()));
    if (client.patch(KI_CORE_V1_PODS, edit).what == KI_WRITTEN_PATCHED) { // else it has the label
        std::cout << pod.key() << images << std::endl;
    }
}

static void check_namespace(ki::client &client)
{
    auto found = client.try_get(KI_CORE_V1_NAMESPACES, "", "shop");
    if (!found) {
        std::cout << found.error().what() << std::endl;
    }
}

int main()
try {
    ki::client client;
    check_namespace(client);
    ki::workqueue queue;
    auto pods = client.informer(KI_CORE_V1_PODS);
    pods.enqueue(queue);

    ki::controller_options options;
    options.on_error = [](std::string_view key, const ki::error &failure, uint32_t, bool) {
        std::cerr << key << ": " << failure.what() << std::endl;
    };
    auto reconcile = [&](std::string_view key) {
        if (auto pod = pods.find(key)) { // else it was deleted
            label_pod(client, pod);
        }
    };
    ki::controller controller(queue, reconcile, options);
    controller.start(client, 2); // two workers, which begin when the cache has synced
    std::cin.get();
    return 0;
} catch (const ki::error &error) {
    std::cerr << error.what() << std::endl;
    return 1;
}
