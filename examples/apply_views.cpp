/* SPDX-License-Identifier: Apache-2.0 */
/* Builds objects from nothing through typed views, with only the fields that this program manages,
 * for server-side apply: ki::client::apply(). */
#include <iostream>

#include <kinformer/api/core_v1.hpp>
#include <kinformer/kinformer.hpp>

namespace v1 = ki::core_v1;

static void fill_service(ki::edit &edit)
{
    auto service = v1::Service::edit_new(edit, "shop", "web");
    auto spec = service.spec();
    spec.set_type(KI_CORE_V1_ServiceType_ClusterIP).selector().set("app", "web");
    spec.ports().append().set_name("http").set_port(80).set_targetPort(8080);
}

static void fill_secret(ki::edit &edit)
{
    auto secret = v1::Secret::edit_new(edit, "shop", "keys");
    secret.set_immutable(true).data().set("key", std::string("\0\1\2", 3));
}

static void fill_pod(ki::edit &edit)
{
    auto spec = v1::Pod::edit_new(edit, "shop", "web").spec();
    spec.volumes_by_name("scratch").emptyDir(); // an empty map is what it takes
    spec.containers_by_name("web").set_image("web:7");
}

int main()
{
    try {
        for (auto fill : {fill_service, fill_secret, fill_pod}) {
            ki::edit edit;
            fill(edit);
            std::cout << edit.object().json() << "\n"; // throws the first failure of all changes
        }
    } catch (const std::exception &e) {
        std::cerr << e.what() << "\n";
        return 1;
    }
    return 0;
}
