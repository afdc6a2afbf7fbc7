/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the controller in C++ as test_controller.c tests the one in C. */
#include <unistd.h>

#include <kinformer/apiserver.hpp>

#include "controller.hpp"

#define CHECK(condition) ((condition) ? void() : throw std::logic_error("failed: " #condition))

static const ki::resource websites("example.com", "v1", "websites", "Website");
static const ki::resource configs = KI_CORE_V1_CONFIGMAPS;
static const ki::resource deployments = KI_APPS_V1_DEPLOYMENTS;
static const std::string page = "data['index.html']";
static const std::string ready = "status.conditions[type=Ready]";
static const std::string owner = "metadata.ownerReferences[?(@.controller==true)].name";
static const std::string hash = "spec.template.metadata.annotations['example.com/hash']";

/* A server without garbage collection, which has the Website "shop", and a controller that has done
 * its work for it. */
struct cluster {
    ki::apiserver server = [] {
        auto options = ki::options<ki_apiserver_options>();
        options.no_garbage_collection = true;
        return ki::apiserver(&options);
    }();
    ki::client client = server.client();
    ki::manager manager{"website-controller", client};
    website_controller controller{manager};

    /* Children have another name than the Website, so that only their owner leads to it. */
    static constexpr auto name = [](auto &of) { return &of == &websites ? "shop" : "shop-site"; };

    explicit cluster(const char *faults = nullptr)
    {
        server.load_file(MANIFESTS "/crd.yaml");
        server.load_file(MANIFESTS "/shop.yaml");
        manager.start();
        CHECK(becomes(websites, ready + ".message", "0 of 2 replicas ready"));
        server.set_faults(faults);
    }
    /* Changes the Website or a child by a merge patch, including its status. */
    void change(const ki::resource &of, std::string_view patch)
    {
        server.load(ki::merge(server.get(of, "default", name(of)), KI_PATCH_MERGE, patch).json());
    }
    /* What the Website or a child has at a path. */
    std::string at(const ki::resource &of, const std::string &path)
    {
        const auto object = server.try_get(of, "default", name(of));
        return object ? object->at(path).string_or(object->at(path).json()) : "no object";
    }
    /* Whether it becomes so within a time that is long enough for a busy machine. */
    bool becomes(const ki::resource &of, const std::string &path, std::string_view expected)
    {
        for (int i = 0; i < 3000 && at(of, path) != expected; i++) {
            usleep(10000);
        }
        return at(of, path) == expected;
    }
};

static void maintains_children_and_status(cluster &&c)
{
    CHECK(c.at(configs, owner) == "shop" && c.at(configs, page) == "<h1>Shop</h1>\n");
    CHECK(c.at(deployments, owner) == "shop" && c.at(deployments, hash) == "9082577683441493032");
    CHECK(c.at(websites, "metadata.finalizers[0]") == website_controller::finalizer);
    c.change(deployments, R"({"status": {"observedGeneration": 1, "readyReplicas": 2}})");
    CHECK(c.becomes(websites, ready + ".status", "True"));
    c.change(websites, R"({"spec": {"html": "New", "replicas": 1}})");
    CHECK(c.becomes(websites, "status.observedGeneration", "2"));
    CHECK(c.at(websites, ready + ".status") == "False");
    CHECK(c.at(configs, page) == "New" && c.at(deployments, hash) == "3981733036569576337");
}

static void sends_nothing_without_a_difference(cluster &&c)
{
    for (int i = 0, quiet = 0; quiet < 10; CHECK(++i < 1000)) { /* in a row: the cache may lag */
        const auto before = c.server.stats().requests;
        const auto runs = c.controller.work.stats().succeeded;
        c.controller.work.queue().add("default/shop");
        while (c.controller.work.stats().succeeded == runs) {
            usleep(1000);
        }
        quiet = c.server.stats().requests == before ? quiet + 1 : 0;
    }
}

static void restores_what_others_change(cluster &&c)
{
    c.change(configs, R"({"metadata": {"labels": null}, "data": {"index.html":"x", "more":"y"}})");
    CHECK(c.becomes(configs, page, "<h1>Shop</h1>\n") && c.at(configs, "data.more") == "");
    c.change(deployments, R"({"metadata": {"ownerReferences": null}, "spec": {"replicas": 9}})");
    CHECK(c.becomes(deployments, "spec.replicas", "2") && c.at(deployments, owner) == "shop");
    c.server.remove(configs, "default", "shop-site");
    c.server.remove(deployments, "default", "shop-site");
    CHECK(c.becomes(configs, owner, "shop") && c.becomes(deployments, owner, "shop"));
}

static void deletes_children_before_the_website(cluster &&c)
{
    c.server.remove(websites, "default", "shop");
    CHECK(c.becomes(deployments, owner, "no object") && c.at(configs, owner) == "shop");
    CHECK(c.at(websites, "metadata.finalizers[0]") == website_controller::finalizer);
    c.server.set_faults(nullptr);
    CHECK(c.becomes(websites, owner, "no object") && c.at(configs, owner) == "no object");
}

static void survives_all_faults_at_once(cluster &&c)
{
    for (int i = 0; i < 30; i++) {
        c.change(websites, R"({"spec": {"replicas": )" + std::to_string(i) + "}}");
        (void)c.server.try_remove(i % 3 ? deployments : configs, "default", "shop-site");
        ki_apiserver_break_connections(c.server.get());
        usleep(20000);
    }
    c.server.set_faults(nullptr);
    CHECK(c.becomes(websites, ready + ".message", "0 of 29 replicas ready"));
    CHECK(c.becomes(configs, owner, "shop") && c.becomes(deployments, "spec.replicas", "29"));
}

int main()
{
    maintains_children_and_status(cluster());
    sends_nothing_without_a_difference(cluster());
    restores_what_others_change(cluster());
    restores_what_others_change(cluster("lag=200ms"));
    deletes_children_before_the_website(cluster("status=500,verb=delete,resource=configmaps"));
    survives_all_faults_at_once(cluster("status=500,rate=20%; cut=700,rate=20%; refuse,rate=5%"));
}
