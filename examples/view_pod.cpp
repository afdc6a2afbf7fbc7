/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a pod through typed views: names and types of fields are checked at compile time. The same
 * code reads JSON and protobuf, in place. */
#include <iostream>

#include <kinformer/api/core_v1.hpp>
#include <kinformer/kinformer.hpp>

namespace v1 = ki::core_v1;

static const char json[] =
    "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"web\",\"namespace\":\"shop\","
    "\"labels\":{\"app\":\"web\",\"tier\":\"front\"}},"
    "\"spec\":{\"nodeName\":\"node-7\",\"containers\":["
    "{\"name\":\"proxy\",\"image\":\"proxy:2\",\"command\":[\"sh\",\"-c\",\"a \\u0026\\u0026 b\"],"
    "\"resources\":{\"requests\":{\"cpu\":\"250m\",\"memory\":\"1.5Gi\"}}},"
    "{\"name\":\"app\",\"image\":\"app:1.4\",\"ports\":[{\"containerPort\":8080}]}]},"
    "\"status\":{\"phase\":\"Running\",\"startTime\":\"2026-01-31T12:00:00Z\",\"conditions\":["
    "{\"type\":\"PodScheduled\",\"status\":\"True\"},{\"type\":\"Ready\",\"status\":\"False\"}]}}";

static void print_container(const v1::Container &container)
{
    auto requests = container.resources().requests();
    std::cout << "  " << container.name().string() << ": " << container.image().string() << ", "
              << requests["cpu"].milli_or(0) << " mCPU, " << requests["memory"].int64_or(0)
              << " bytes\n";
    for (auto word : container.command()) {
        std::cout << "    " << word.string() << "\n"; // decoded: JSON may store it with escapes
    }
    for (auto port : container.ports()) {
        std::cout << "    " << port.containerPort() << "/" << port.protocol().string() << "\n";
    }
}

static void print_pod(const ki::object &object)
{
    v1::Pod pod = v1::Pod::of(object); // owns nothing; valid as long as the object
    auto spec = pod.spec();
    auto status = pod.status();
    auto ready = status.conditions_by_type(KI_CORE_V1_PodConditionType_Ready);
    std::cout << pod.metadata().name().string() << " on " << spec.nodeName().string() << " since "
              << status.startTime().seconds << "\n";
    std::cout << "running: " << (status.phase() == KI_CORE_V1_PodPhase_Running)
              << ", ready: " << (ready.status() == KI_CORE_V1_ConditionStatus_True)
              << ", host network: " << spec.hostNetwork()
              << ", priority: " << (spec.has_priority() ? "set" : "not set") << "\n";
    for (auto [key, value] : pod.metadata().labels()) {
        std::cout << "  " << key << "=" << value.string() << "\n";
    }
    for (auto container : spec.containers()) {
        print_container(container);
    }
}

int main()
{
    try {
        ki::object pod = ki::object::from_json(json);
        ki::detail::buffer bytes;
        print_pod(pod);
        if (ki_object_write_protobuf(pod.get(), bytes.get(), nullptr) == 0) {
            print_pod(ki::object::from_protobuf(bytes.view()));
        }
    } catch (const std::exception &e) {
        std::cerr << e.what() << "\n";
        return 1;
    }
    return 0;
}
