/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the pods of a cluster and their changes until Enter is pressed. */
#include <iostream>

#include <kinformer/kinformer.hpp>

int main()
try {
    ki::client client; // configured as kubectl is, or as the pod it runs in
    auto pods = client.informer(KI_CORE_V1_PODS);
    pods.on_change([](const ki::change &change) {
        const char *mark = change.added() ? (change.initial() ? "= " : "+ ") : "~ ";
        std::cout << (change.deleted() ? "- " : mark) << change.object().key() << std::endl;
    });
    client.start();
    std::cin.get(); // callbacks run on threads of the library
    return 0;
} catch (const ki::error &error) {
    std::cerr << error.what() << std::endl;
    return 1;
}
