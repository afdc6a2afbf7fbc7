/* SPDX-License-Identifier: Apache-2.0 */
/* The controller of controller.h in C++: the same objects for the same Websites, so that either
 * program can take over from the other. */
#pragma once

#include <iostream>

#include <kinformer/manager.hpp>

#include "website_views.h" /* by kinformer gen-views from crd.yaml; see CMakeLists.txt */

struct website_controller {
    ki::manager &manager; /* starts and stops it */

    ~website_controller()
    {
        manager.close(); /* before what its workers use is destroyed */
    }

    /* ---- the desired state ---- */

    static constexpr auto child_of = [](auto &site) { return std::string(site.name()) + "-site"; };

    static void fill_config(ki::edit &edit, const ki::object &website)
    {
        edit.remove("data").set("data['index.html']", website.at("spec.html"));
    }

    /* Merged into what is there: fields that are not named here keep the defaults of the server.
     * The hash makes the Deployment replace its pods when the page changes. */
    static void fill_deployment(ki::edit &edit, const ki::object &website)
    {
        uint64_t hash = 0xcbf29ce484222325; /* FNV-1a */
        const auto spec = ki::example_v1::Website::of(website).spec();
        for (const char c : spec.html().string()) {
            hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
        }
        edit.merge(R"({"spec": {"template": {"spec": {"volumes": [{"name": "page"}], "containers": [
            {"name": "web", "ports": [{"containerPort": 80}], "volumeMounts": [
             {"name": "page", "mountPath": "/usr/share/nginx/html"}]}]}}}})");
        edit.set("spec.replicas", spec.replicas())
            .set("spec.selector.matchLabels.website", website.name())
            .set("spec.template.metadata.labels.website", website.name())
            .set("spec.template.metadata.annotations['example.com/hash']", std::to_string(hash))
            .set("spec.template.spec.volumes[name=page].configMap.name", child_of(website))
            .set("spec.template.spec.containers[name=web].image", spec.image().string());
    }

    /* Ready once the Deployment has as many replicas as it should have, of the current page. */
    static void fill_status(ki::edit &edit, const ki::object &website, const ki::object &deployment)
    {
        const auto wanted = deployment.at("spec.replicas").int64_or(1);
        const auto ready = deployment.at("status.readyReplicas").int64_or(0);
        const auto observed = deployment.at("status.observedGeneration").int64_or(0);
        const bool is_ready = ready >= wanted && observed >= deployment.generation();
        edit.set("status.observedGeneration", website.generation())
            .set("status.readyReplicas", ready)
            .condition("Ready", is_ready ? "True" : "False", is_ready ? "Serving" : "Waiting",
                       std::to_string(ready) + " of " + std::to_string(wanted) + " replicas ready");
    }

    /* ---- reconciling ---- */

    /* Creates or corrects a child of a Website. */
    ki::object keep(const ki::resource &of, const ki::informer &cache, const ki::object &website,
                    void (*fill)(ki::edit &edit, const ki::object &website))
    {
        const auto set = [&](ki::edit &edit) {
            edit.add_owner(website).label("app.kubernetes.io/managed-by", "website-controller");
            fill(edit, website);
        };
        const auto old = cache.get(website.name_space(), child_of(website));
        auto done = client.create_or_patch(of, website.name_space(), child_of(website), set, old);
        if (done.what == KI_WRITTEN_CREATED) {
            manager.recorder().event(website, KI_EVENT_NORMAL, "Created", of.kind(), "Reconcile");
        }
        return done.object;
    }

    /* Deletes a child, which the cache may not have yet; an object of others is kept. */
    void drop(const ki::resource &of, const ki::object &website)
    {
        const auto child = client.try_get(of, website.name_space(), child_of(website));
        if (child ? child->is_controlled_by(website) : !child.error().is_not_found()) {
            client.remove(of, child.value()); /* or throws why it was not read */
        }
    }

    void bring_about(const ki::object &cached)
    {
        const auto hold = [](ki::edit &edit) { edit.add_finalizer(finalizer); };
        const auto website = client.modify(resource, cached, hold).object;
        keep(KI_CORE_V1_CONFIGMAPS, configs, website, fill_config);
        const auto deployment = keep(KI_APPS_V1_DEPLOYMENTS, deployments, website, fill_deployment);
        const auto report = [&](ki::edit &edit) { fill_status(edit, website, deployment); };
        client.modify(resource, website, report, "status");
    }

    void reconcile(std::string_view key)
    {
        const ki::object website = websites.find(key);
        if (website && !website.is_deleting()) {
            bring_about(website);
        } else if (website && website.has_finalizer(finalizer)) {
            drop(KI_APPS_V1_DEPLOYMENTS, website);
            drop(KI_CORE_V1_CONFIGMAPS, website);
            client.modify(resource, website, [](auto &edit) { edit.remove_finalizer(finalizer); });
        }
    }

    static void complain(std::string_view key, const ki::error &error, uint32_t, bool)
    {
        std::cerr << key << ": " << error.what() << std::endl;
    }

    static constexpr const char *finalizer = "example.com/website";
    static constexpr const char *ours = "app.kubernetes.io/managed-by=website-controller";
    ki::client &client = manager.client();
    ki::resource resource{"example.com", "v1", "websites", "Website"};
    ki::managed_controller work{manager, [this](auto key) { reconcile(key); }, 4, {complain}};
    ki::informer websites = work.watch(client.informer(resource));
    ki::informer configs = work.watch(client.informer(KI_CORE_V1_CONFIGMAPS, ours), resource);
    ki::informer deployments = work.watch(client.informer(KI_APPS_V1_DEPLOYMENTS, ours), resource);
};
