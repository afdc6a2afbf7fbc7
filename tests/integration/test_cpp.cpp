/* SPDX-License-Identifier: Apache-2.0 */
/* The C++ header, on the embedded API server: handles, loops, lambdas, errors in both forms, and
 * exceptions in callbacks.
 * threads: yes */
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>

#include <kinformer/apiserver.hpp>
#include <kinformer/kinformer.hpp>

#include "support/check.hpp"

using namespace std::chrono_literals;

/* Calls `function`, which must throw a ki::error, and returns it. */
template <typename Function> static ki::error thrown(Function &&function)
{
    try {
        function();
    } catch (const ki::error &e) {
        return e;
    }
    std::fprintf(stderr, "nothing was thrown\n");
    std::exit(1);
}

/* Texts from other threads, and a wait for them. */
class events
{
  public:
    void add(std::string_view text)
    {
        const std::lock_guard<std::mutex> held(lock_);
        seen_.emplace_back(text);
        changed_.notify_all();
    }
    /* Waits until `text` was added `times` times. */
    bool wait(std::string_view text, size_t times = 1)
    {
        std::unique_lock<std::mutex> held(lock_);
        return changed_.wait_for(held, 30s, [&] {
            size_t found = 0;
            for (const std::string &one : seen_) {
                found += one == text ? 1U : 0U;
            }
            return found >= times;
        });
    }
    std::vector<std::string> all()
    {
        const std::lock_guard<std::mutex> held(lock_);
        return seen_;
    }

  private:
    std::mutex lock_;
    std::condition_variable changed_;
    std::vector<std::string> seen_;
};

static constexpr std::string_view web = R"({"kind": "Pod", "apiVersion": "v1",
    "metadata": {"name": "web", "namespace": "default", "labels": {"app": "web", "tier": "front"},
                 "annotations": {"note": "a\nb"}, "finalizers": ["x/y"]},
    "spec": {"nodeName": "a", "priority": 7, "hostNetwork": true,
             "containers": [{"name": "one", "image": "i1"}, {"name": "two", "image": "i2"}]}})";

static std::string config_map(const std::string &name, const std::string &data = "{}")
{
    return R"({"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": ")" + name +
           R"(", "namespace": "default", "labels": {"app": "web"}}, "data": )" + data + "}";
}

/* ---- handles ---- */

static void handles_are_owned()
{
    ki::object a = ki::object::from_json(web);
    ki::object b = a;
    CHECK(a.get() == b.get());
    ki::object c = std::move(a);
    CHECK(!a && c && c.get() == b.get());
    a = b;
    b = ki::object();
    CHECK(a && !b);
    const ki::object_ref borrowed = a;
    b = borrowed;
    CHECK(b.get() == a.get() && borrowed == b);
    a.reset();
    c.reset();
    CHECK(b.name() == "web"); /* the last reference */

    ki_object *raw = b.release();
    CHECK(!b);
    const ki::object shared(ki::borrowed, raw);
    const ki::object owner(raw);
    CHECK(owner.key() == "default/web");

    ki::json moved = ki::json();
    ki::json to(std::move(moved));
    CHECK(!moved.get() && to.get());
    moved = std::move(to);
    CHECK(moved.get() && !to.get());
    static_assert(!std::is_copy_constructible_v<ki::json> &&
                  !std::is_copy_constructible_v<ki::list>);
    static_assert(!std::is_copy_constructible_v<ki::client> &&
                  std::is_nothrow_move_constructible_v<ki::client>);
    static_assert(std::is_nothrow_copy_constructible_v<ki::informer>);

    ki::resource pods = KI_CORE_V1_PODS;
    CHECK(pods.name() == "pods" && pods.kind() == "Pod");
    auto custom = ki::options<ki_resource_options>();
    custom.group = "example.com";
    custom.version = "v1";
    custom.resource = "widgets";
    custom.kind = "Widget";
    pods = ki::resource(custom);
    CHECK(pods.name() == "widgets");
    custom.kind = "no kind";
    CHECK(ki::resource::try_new(custom).error().code() == KI_ERR_INVALID);
}

/* ---- reading ---- */

static void values_are_read()
{
    const auto pod = ki::object::from_json(web);
    CHECK(pod.at("spec.nodeName").string_or("") == "a");
    CHECK(pod.at("spec.missing").string_or("none") == "none");
    CHECK(pod.at("spec.priority").int64_or(0) == 7 && pod.at("spec.nodeName").int64_or(3) == 3);
    CHECK(pod.at("spec.priority").double_or(0) == 7.0 && pod.at("spec.x").double_or(1.5) == 1.5);
    CHECK(pod.at("spec.hostNetwork").bool_or(false) && pod.at("spec.x").bool_or(true));
    CHECK(pod.at(std::string("metadata.name")) == "web");
    CHECK(pod.at(std::string_view("metadata.namexx", 13)) == "web");
    CHECK(pod.annotation("note").string() == "a\nb" && pod.annotation("note") == "a\nb");
    CHECK(pod.at("metadata.annotations").json() == "{\"note\": \"a\\nb\"}");
    CHECK(pod.label("app") == "web" && pod.label("x").empty() && pod.has_label("tier"));
    CHECK(pod.has_finalizer("x/y") && !pod.has_finalizer("x"));
    CHECK(pod.at("spec")["containers"][1]["image"] == "i2" && !pod.at("spec")["x"]);
    CHECK(pod.at("spec.containers")[-1]["name"] == "two" && !pod.at("spec.containers")[2]);
    CHECK(pod.at("spec.containers").size() == 2);

    CHECK(pod.at("spec.priority").int64() == 7 && pod.at("spec.priority").number() == 7.0);
    CHECK(pod.at("spec.hostNetwork").boolean());
    CHECK(thrown([&] { (void)pod.at("spec.priority").string(); }).code() == KI_ERR_TYPE);
    CHECK(pod.at("spec.nodeName").try_int64().error().code() == KI_ERR_TYPE);
    CHECK(!pod.at("spec.nodeName").try_boolean() && !pod.at("spec.x").try_number());
}

static void ranges_are_walked()
{
    const auto pod = ki::object::from_json(web);
    std::string images;
    for (const ki::value &container : pod.at("spec.containers")) {
        images += container["image"].string();
    }
    CHECK(images == "i1i2");
    std::map<std::string, std::string> labels;
    for (const auto &[name, value] : pod.labels().members()) {
        labels[name] = value.string();
    }
    CHECK((labels == std::map<std::string, std::string>{{"app", "web"}, {"tier", "front"}}));
    size_t count = 0;
    for (const ki::value &one : pod.labels()) {
        count += one.exists() ? 1U : 0U;
    }
    CHECK(count == 2);
    for (const ki::value &one : pod.at("spec.nodeName")) {
        CHECK(one.exists() && false);
    }
    for (const auto &one : pod.at("spec.containers").members()) {
        CHECK(one.name.empty() && false); /* a list has no names */
    }

    const ki::path path("spec.containers[*].name");
    CHECK(path.first(pod) == "one" && path.all(pod).size() == 2 && path.all(pod)[1] == "two");
    CHECK(ki::path::try_compile("a[").error().code() == KI_ERR_SYNTAX);
    CHECK(ki::selector("app in (web, db)").matches(pod) && !ki::selector("!app").matches(pod));
    CHECK(ki::selector().matches(pod));
    CHECK(thrown([] { ki::selector("=="); }).code() == KI_ERR_SYNTAX);
    CHECK(ki::field_selector("metadata.name=web").matches(pod));
}

/* ---- writing ---- */

static void objects_are_built()
{
    const auto pod = ki::object::from_json(web);
    ki::json json;
    json.begin_map()
        .add("kind", "A")
        .add("string", std::string("x\"y"))
        .add("nul", std::string_view("a\0b", 3))
        .add("int", -3)
        .add("unsigned", UINT64_MAX)
        .add("double", 0.5)
        .add("yes", true)
        .add("null", nullptr)
        .add("copy", pod.at("spec.containers[0]"))
        .add("absent", pod.at("spec.x"))
        .raw("raw", "[1,{}]")
        .begin_list("list")
        .add(1)
        .add("two")
        .begin_map()
        .end()
        .end()
        .end();
    CHECK(
        json.text() ==
        R"({"kind":"A","string":"x\"y","nul":"a\u0000b","int":-3,"unsigned":18446744073709551615,)"
        R"("double":0.5,"yes":true,"null":null,"copy":{"name": "one", "image": "i1"},)"
        R"("raw":[1,{}],"list":[1,"two",{}]})");
    CHECK(json.object().kind() == "A");
    json.add("too much");
    CHECK(json.try_object().error().code() == KI_ERR_INVALID);
    CHECK(thrown([&] { (void)json.text(); }).code() == KI_ERR_INVALID);
    json.clear();
    CHECK(json.begin_list().end().text() == "[]");
}

static void objects_are_changed()
{
    const auto pod = ki::object::from_json(web);
    ki::edit edit(pod);
    edit.set("spec.priority", 8)
        .set("spec.hostNetwork", false)
        .set("spec.containers[name=two].image", "i3")
        .set("metadata.annotations.z", std::string_view("a\0b", 3))
        .set("spec.copy", pod.at("spec.containers[0].name"))
        .set_json("spec.json", "{\"a\":[]}")
        .append("spec.list", "x")
        .remove("spec.nodeName")
        .label("app", "db")
        .remove_finalizer("x/y")
        .condition("Ready", "True", "Because");
    const auto changed = edit.object();
    CHECK(changed.at("spec.priority").int64() == 8 && !changed.at("spec.hostNetwork").boolean());
    CHECK(changed.at("spec.containers[1].image") == "i3" && changed.at("spec.copy") == "one");
    CHECK(changed.annotation("z").string() == std::string("a\0b", 3));
    CHECK(changed.at("spec.json.a").type() == KI_TYPE_LIST && changed.at("spec.list[0]") == "x");
    CHECK(!changed.at("spec.nodeName") && changed.label("app") == "db");
    CHECK(changed.condition_is_true("Ready") && !changed.has_finalizer("x/y"));
    CHECK(pod.label("app") == "web"); /* as it was */

    CHECK(ki::edit(pod).set("spec.priority", 9).merge_patch() == R"({"spec":{"priority":9}})");
    CHECK(ki::edit(pod).set("spec.priority", 7).merge_patch() == "{}");
    CHECK(ki::edit(pod).merge(R"({"spec": {"priority": 7}})").merge_patch() == "{}");
    CHECK(ki::edit(pod).try_json_patch().error().code() == KI_ERR_INVALID); /* no version */
    ki::edit wrong(pod);
    wrong.set("spec[", 1).set("spec.priority", 9);
    CHECK(wrong.try_object().error().code() == KI_ERR_SYNTAX);
    CHECK(ki::edit().set("kind", "B").object().kind() == "B");

    const auto merged = ki::merge(pod, KI_PATCH_MERGE, R"({"spec":{"priority":1}})");
    const ki::diff diff(pod, merged);
    CHECK(diff.size() == 1 && std::string_view(diff.changes()[0]->path) == "spec.priority");
    CHECK(ki::value(diff[0].after).int64() == 1);
    CHECK(thrown([&] { (void)ki::merge(pod, KI_PATCH_JSON, "{"); }).code() == KI_ERR_SYNTAX);
}

/* ---- errors ---- */

static void errors_in_both_forms()
{
    ki::apiserver server;
    ki::client client = server.client();

    const auto found = client.try_get(KI_CORE_V1_PODS, "default", "web");
    CHECK(!found && !found.ok());
    CHECK(found.error().code() < 0 && found.error().http_code() == 404);
    CHECK(found.error().reason() == KI_REASON_NOT_FOUND && found.error().is_not_found());
    CHECK(found.error().name() == ki_error_name(found.error().code()));
    CHECK(!found.error().is_conflict() && !found.error().is_already_exists());
    CHECK(found.error().status().at("reason") == "NotFound");
    const ki::error e = thrown([&] { client.get(KI_CORE_V1_PODS, "default", "web"); });
    CHECK(e.http_code() == 404 && std::string_view(e.what()) == found.error().what());
    CHECK(std::string_view(e.what()).find("web") != std::string_view::npos);
    static_assert(std::is_base_of_v<std::runtime_error, ki::error>);

    const auto parsed = ki::object::try_from_json("{\n  x");
    CHECK(!parsed && parsed.error().line() == 2 && parsed.error().column() != 0);
    CHECK(thrown([&] { (void)parsed.value(); }).code() == parsed.error().code());
    CHECK(ki::object::try_from_json(web).value_or({}).name() == "web");
    CHECK(!ki::object::try_from_json("").value_or({}));
    CHECK(ki::object::try_from_json(web)->name() == "web");

    auto options = ki::options<ki_client_options>();
    options.qps = 1e-9;
    CHECK(!ki::apiserver::try_new().value().try_client(&options));
    CHECK(thrown([&] { ki::client bad(&options); }).code() < 0);

    /* A message that does not fit into the struct of the C API is truncated between characters. */
    std::string text(KI_ERROR_MESSAGE_SIZE - 5, 'x');
    text += "\xc3\xa4\xc3\xa4\xc3\xa4";
    ki_error filled = KI_ERROR_INIT;
    CHECK(ki::error(-EIO, text).fill(&filled) == -EIO && filled.code == -EIO);
    CHECK(filled.message == std::string(KI_ERROR_MESSAGE_SIZE - 5, 'x') + "...");
}

/* ---- requests ---- */

static void requests_are_made()
{
    ki::apiserver server;
    ki::client client = server.client();
    const ki::resource maps = KI_CORE_V1_CONFIGMAPS;
    const auto first = ki::object::from_json(config_map("a"));
    const auto made = client.create(maps, first);
    CHECK(!made.uid().empty());
    CHECK(client.try_create(maps, first).error().is_already_exists());
    (void)client.create(maps, ki::object::from_json(config_map("b")));
    CHECK(client.get(maps, "default", "a").uid() == made.uid());
    std::set<std::string> keys;
    for (ki::object_ref one : client.list(maps, "default", "app=web")) {
        keys.emplace(one.key());
    }
    CHECK((keys == std::set<std::string>{"default/a", "default/b"}));
    CHECK(client.list(maps, "default", "app=db").empty());
    CHECK(client.try_list(maps, "default", "==").error().http_code() == 400);

    const auto updated = client.update(maps, ki::edit(made).set("data.k", "v").object());
    CHECK(updated.at("data.k") == "v");
    const auto stale = client.try_update(maps, ki::edit(made).set("data.k", "w").object());
    CHECK(!stale && stale.error().is_conflict());
    const auto patched =
        client.patch(maps, "default", "a", KI_PATCH_MERGE, R"({"data":{"k":"p"}})");
    CHECK(patched.at("data.k") == "p");
    CHECK(client.patch(maps, ki::edit(patched)).what == KI_WRITTEN_NOTHING);
    const auto modified = client.modify(maps, made, [](ki::edit &e) { e.set("data.k", "m"); });
    CHECK(modified.what == KI_WRITTEN_PATCHED && modified.object.at("data.k") == "m");
    CHECK(client.patch(maps, ki::edit(patched).set("data.k", "e")).object.at("data.k") == "e");
    ki::json applied;
    applied.begin_map().add("kind", "ConfigMap").add("apiVersion", "v1").begin_map("metadata");
    applied.add("name", "c").add("namespace", "default").end().end();
    CHECK(client.apply(maps, applied.object(), "test").name() == "c");

    auto raw = ki::options<ki_request>();
    raw.verb = KI_VERB_RAW;
    raw.path = "/version";
    CHECK(client.send(raw).body().find("gitVersion") != std::string_view::npos);
    raw.path = "/nothing";
    CHECK(client.try_send(raw).error().http_code() == 404);
    CHECK(client.resolve("cm").name() == "configmaps");
    CHECK(!client.try_resolve("nothing"));

    client.remove(maps, "default", "a");
    CHECK(client.try_remove(maps, "default", "a").error().is_not_found());
    CHECK(thrown([&] { client.remove(maps, "default", "a"); }).is_not_found());
}

static void writes_are_repeated()
{
    ki::apiserver server;
    ki::client client = server.client();
    const ki::resource maps = KI_CORE_V1_CONFIGMAPS;
    const auto fill = [](ki::edit &edit) { edit.set("data.k", "v"); };
    const auto created = client.create_or_patch(maps, "default", "a", fill);
    CHECK(created.what == KI_WRITTEN_CREATED && created.object.at("data.k") == "v");
    CHECK(client.create_or_patch(maps, "default", "a", fill).what == KI_WRITTEN_NOTHING);
    const auto patched = client.create_or_patch(
        maps, "default", "a", [](ki::edit &edit) { edit.set("data.k", "w"); }, created.object);
    CHECK(patched.what == KI_WRITTEN_PATCHED);
    CHECK(!client.try_create_or_patch(maps, "default", "a",
                                      [](ki::edit &edit) { edit.set("[", "w"); }));

    /* What the function throws arrives unchanged, and nothing was sent. */
    bool caught = false;
    try {
        (void)client.try_create_or_patch(maps, "default", "a", [](ki::edit &edit) {
            edit.set("data.k", "never");
            throw std::out_of_range("mine");
        });
    } catch (const std::out_of_range &e) {
        caught = std::string_view(e.what()) == "mine";
    }
    CHECK(caught && client.get(maps, "default", "a").at("data.k") == "w");

    int attempts = 0;
    client.retry_on_conflict(
        [&] { /* the first write is stale */
              const auto from = attempts++ == 0 ? created.object : client.get(maps, "default", "a");
              (void)client.update(maps, ki::edit(from).set("data.n", "1").object());
        });
    CHECK(attempts == 2);
    attempts = 0;
    const auto failed = client.try_retry_on_conflict([&]() -> ki::result<void> {
        attempts++;
        return client.try_update(maps, created.object).error();
    });
    CHECK(!failed && failed.error().is_conflict() && attempts > 2);
    CHECK(thrown([&] { client.retry_on_conflict([] { throw std::runtime_error("x"); }); }).what() ==
          std::string("x"));
}

/* ---- informers ---- */

static void changes_are_delivered()
{
    ki::apiserver server;
    (void)server.load(web);
    events seen;
    const auto alive = std::make_shared<int>(1);
    {
        ki::client client = server.client();
        auto pods = client.informer(KI_CORE_V1_PODS);
        auto registration = pods.on_change([&seen, alive](const ki::change &c) {
            seen.add(std::string(c.name()) + (c.initial() ? "! " : " ") +
                     std::string(c.object().key()));
        });
        ki::handler filtered;
        filtered.filter = [alive](ki::object_ref pod) { return pod.label("app") == "db"; };
        filtered.on_change = [&seen](const ki::change &c) {
            seen.add("db " + std::string(c.object().name()) +
                     (c.old() ? " from " + std::string(c.old().name()) : ""));
        };
        filtered.on_synced = [&seen] { seen.add("synced"); };
        pods.add_handler(std::move(filtered));
        CHECK(alive.use_count() == 3);
        client.start();
        client.wait_for_sync(30s);
        CHECK(pods.has_synced() && registration.has_synced());
        CHECK(seen.wait("added! default/web") && seen.wait("synced"));
        client.patch(KI_CORE_V1_PODS, "default", "web", KI_PATCH_MERGE,
                     R"({"metadata":{"labels":{"app":"db"}}})");
        CHECK(seen.wait("updated default/web") && seen.wait("db web"));
        registration.remove_wait();
        CHECK(alive.use_count() == 2); /* the function was destroyed */
        auto options = ki::options<ki_request>();
        options.verb = KI_VERB_DELETE;
        options.resource = KI_CORE_V1_PODS;
        options.name_space = "default";
        options.name = "web";
        options.at_once = true;
        (void)client.patch(KI_CORE_V1_PODS, "default", "web", KI_PATCH_MERGE,
                           R"({"metadata":{"finalizers":null}})");
        (void)client.send(options);
        CHECK(seen.wait("db web from web", 2)); /* the patch and the deletion */
    }
    CHECK(alive.use_count() == 1);
    for (const std::string &one : seen.all()) {
        CHECK(one != "deleted default/web"); /* removed before */
    }
}

static void caches_are_read()
{
    ki::apiserver server;
    for (const char *name : {"a", "b", "c"}) {
        (void)server.load(
            config_map(name, std::string(R"({"k": ")") + (*name == 'c' ? "2" : "1") + "\"}"));
    }
    ki::client client = server.client();
    auto maps = client.informer(KI_CORE_V1_CONFIGMAPS);
    maps.add_index(ki::index("k", [](ki::object_ref o) { return o.at("data.k").string_or(""); }));
    maps.add_index(ki::index("many", [](ki::object_ref o) {
        return std::vector<std::string>{std::string(o.name()), "all"};
    }));
    maps.add_index(ki::index("maybe", [](ki::object_ref o) {
        return o.name() == "a" ? std::optional<std::string_view>("yes") : std::nullopt;
    }));
    maps.add_index(ki::index::by_label("app", "app"));
    maps.add_index(ki::index::by_path("path", ki::path("data.k")));
    CHECK(maps.try_add_index(ki::index::by_label("app", "app")).error().code() < 0); /* twice */
    client.start();
    client.wait_for_sync();

    CHECK(maps.get("default", "a").name() == "a" && !maps.get("default", "x"));
    CHECK(maps.find("default/b").name() == "b" && !maps.find("b"));
    std::string names;
    for (ki::object_ref one : maps.list("default", "app=web").sort()) {
        names += one.name();
    }
    CHECK(names == "abc");
    CHECK(maps.list().size() == 3 && maps.list("other").empty());
    CHECK(maps.try_list("", "==").error().code() == KI_ERR_SYNTAX);

    size_t count = 0;
    for (ki::object_ref one : maps.by_index("k", "1")) {
        count += one.at("data.k") == "1" ? 1U : 0U;
    }
    CHECK(count == 2 && maps.by_index("many", "all").size() == 3);
    CHECK(maps.by_index("maybe", "yes").size() == 1 && maps.by_index("app", "web").size() == 3);
    CHECK(maps.by_index("path", "2").size() == 1);
    CHECK(maps.try_by_index("x", "").error().code() == KI_ERR_UNKNOWN_INDEX);

    const ki::snapshot snapshot = maps.snapshot();
    count = 0;
    for (ki::object_ref one : snapshot) {
        count += snapshot.find(one.key()) == one ? 1U : 0U;
    }
    CHECK(count == 3 && snapshot.size() == 3);
    std::string of_two;
    for (ki::object_ref one : maps.snapshot().by_index("k", "2")) { /* the range keeps it */
        of_two += one.name();
    }
    CHECK(of_two == "c");
    CHECK(thrown([&] { (void)snapshot.by_index("x", ""); }).code() == KI_ERR_UNKNOWN_INDEX);
    CHECK(!maps.list()[3] && maps.store().all().size() == 3);
}

/* ---- exceptions in callbacks ---- */

struct reports {
    events seen;

    static void take(const ki_report *report, void *user)
    {
        static_cast<reports *>(user)->seen.add(
            std::string(report->component) + " " + std::string(ki::view(report->key)) + " " +
            ki_error_name(report->error->code) + " " + report->error->message);
    }
};

static void exceptions_of_handlers_are_reported()
{
    reports got;
    ki::apiserver server;
    (void)server.load(config_map("a"));
    auto loop_options = ki::options<ki_loop_options>();
    loop_options.on_report = reports::take;
    loop_options.report_user = &got;
    loop_options.reports_per_second = 1000;
    ki_loop *made = nullptr;
    CHECK(ki_loop_new(&loop_options, &made, nullptr) == 0);
    const ki::loop loop(made);
    auto options = ki::options<ki_client_options>();
    options.loop = loop.get();
    {
        ki::client client = server.client(&options);
        CHECK(ki_loop_start(loop.get(), nullptr) == 0);
        auto maps = client.informer(KI_CORE_V1_CONFIGMAPS);
        events seen;
        maps.on_change([&](const ki::change &c) {
            if (c.added() && c.object().name() == "a") {
                throw std::logic_error("bad handler");
            }
            seen.add(c.object().name());
        });
        ki::handler wrong;
        wrong.filter = [](ki::object_ref o) -> bool {
            throw ki::error(KI_ERR_LIMIT, "bad filter of " + std::string(o.name()));
        };
        wrong.on_change = [&](const ki::change &) { seen.add("passed"); };
        wrong.on_synced = [] { throw 5; };
        maps.add_handler(std::move(wrong));
        maps.on_change([](const ki::change &) { throw std::bad_alloc(); });
        maps.add_index(ki::index("x", [](ki::object_ref o) {
            return o.name() != "c" ? "x" : throw std::runtime_error("bad index");
        }));
        client.start();
        CHECK(got.seen.wait("handler default/a KI_ERR_CALLBACK bad handler"));
        CHECK(got.seen.wait("handler default/a KI_ERR_LIMIT bad filter of a"));
        CHECK(got.seen.wait("handler  KI_ERR_CALLBACK exception of an unknown type"));
        CHECK(got.seen.wait(std::string("handler default/a ENOMEM ") + ki_error_text(-ENOMEM)));
        (void)client.create(KI_CORE_V1_CONFIGMAPS, ki::object::from_json(config_map("b")));
        CHECK(seen.wait("b")); /* delivery continued */
        CHECK(seen.all() == std::vector<std::string>{"b"});
        (void)client.create(KI_CORE_V1_CONFIGMAPS, ki::object::from_json(config_map("c")));
        (void)client.create(KI_CORE_V1_CONFIGMAPS, ki::object::from_json(config_map("d")));
        CHECK(seen.wait("d") && !maps.find("default/c") && maps.by_index("x", "x").size() == 3);
        CHECK(got.seen.wait("store default/c KI_ERR_INDEX_FUNCTION index x failed for object "
                            "default/c: a callback failed"));
        maps.stop();
    }
    ki_loop_stop(loop.get());
    CHECK(ki_loop_join(loop.get()) == 0);
}

static void exceptions_of_reconcilers_are_retried()
{
    ki::apiserver server;
    (void)server.load(config_map("a"));
    (void)server.load(config_map("b"));
    ki::client client = server.client();
    auto maps = client.informer(KI_CORE_V1_CONFIGMAPS);
    ki::workqueue queue;
    maps.enqueue(queue);
    events seen;
    std::atomic<int> calls{0};
    const auto alive = std::make_shared<int>(1);
    ki::controller_options options;
    options.on_error = [&](std::string_view key, const ki::error &e, uint32_t failures, bool) {
        seen.add(std::string(key) + " " + std::string(e.name()) + " " + e.what() + " " +
                 std::to_string(failures));
        throw 1; /* ignored */
    };
    {
        ki::controller controller(
            queue,
            [&, alive](std::string_view key) {
                const auto object = maps.find(key);
                CHECK(object); /* synced before the workers begin */
                if (key == "default/a" && calls++ == 0) {
                    throw std::runtime_error("not yet");
                }
                seen.add("done " + std::string(object.name()));
            },
            options);
        controller.start(client, 2);
        CHECK(seen.wait("default/a KI_ERR_CALLBACK not yet 1"));
        CHECK(seen.wait("done a") && seen.wait("done b"));
        CHECK(controller.try_start(1).error().code() == KI_ERR_EXISTS);
    }
    CHECK(alive.use_count() == 1);
    CHECK(queue.try_add("x").error().code() == KI_ERR_STOPPED);
    CHECK(thrown([&] { queue.add("x"); }).code() == KI_ERR_STOPPED);
}

static void reconcilers_return_results()
{
    ki::workqueue queue;
    events seen;
    std::atomic<int> calls{0};
    ki::controller_options options;
    options.on_error = [&](std::string_view, const ki::error &e, uint32_t, bool given_up) {
        seen.add(std::string(e.what()) + (given_up ? " given up" : ""));
    };
    options.max_retries = 1;
    ki::controller controller(
        queue,
        [&](std::string_view key) -> ki::result<std::chrono::milliseconds> {
            if (key == "wrong") {
                return ki::error(-EIO, "failed");
            }
            seen.add(key);
            return calls++ == 0 ? 1ms : 0ms; /* once more */
        },
        options);
    queue.add("again");
    queue.add_after("wrong", 1ms);
    controller.start(2);
    CHECK(seen.wait("again", 2) && seen.wait("failed") && seen.wait("failed given up"));
    controller.close();

    ki::workqueue one;
    ki::controller by_hand(one, [&](std::string_view) { return 0s; });
    CHECK(!by_hand.work_one());
    one.add("k");
    CHECK(one.size() == 1 && by_hand.work_one() && one.size() == 0);
    one.shut_down();
    CHECK(by_hand.try_work_one().error().code() == KI_ERR_STOPPED);
    by_hand.run_worker();
}

static void reconciles_complete_later()
{
    ki::workqueue queue;
    std::vector<ki::reconcile_call> pending;
    std::vector<std::string> errors;
    std::vector<const ki_reconcile *> canceled;
    ki::async_options async;
    async.max_pending = 2;
    async.on_cancel = [&](const ki_reconcile *id) { canceled.push_back(id); };
    ki::controller_options options;
    options.on_error = [&](std::string_view key, const ki::error &e, uint32_t, bool) {
        errors.push_back(std::string(key) + " " + e.what());
    };
    ki::async_controller controller(
        queue,
        [&](ki::reconcile_call call) {
            if (call.key() == "throws") {
                throw std::runtime_error("ignored");
            }
            pending.push_back(std::move(call));
        },
        async, options);
    queue.add("low", KI_PRIORITY_LOW);
    queue.add("a");
    queue.add("high", 10);
    CHECK(controller.timeout() == 0);
    CHECK(controller.work_one() && controller.work_one() && !controller.work_one());
    CHECK(pending[0].key() == "high" && pending[1].key() == "a" && controller.timeout() > 0);
    std::thread([&] { CHECK(pending[1].complete()); }).join();
    CHECK(!pending[1] && controller.work_one() && pending[2].key() == "low");
    CHECK(pending[0].fail(ki::error(-EIO, "broken")));
    CHECK(errors.size() == 1 && errors[0] == "high broken");
    CHECK(queue.try_add("x", KI_PRIORITY_MAX + 1).error().code() == -EINVAL);
    queue.add("throws", 5);
    CHECK(controller.work_one() && errors.size() == 2); /* its destructor completed it */
    const auto *low = pending[2].id();
    controller.close();
    CHECK(canceled.size() == 1 && canceled[0] == low);
    CHECK(!pending[2].complete(5ms));
}

static void maps_add_keys()
{
    auto options = ki::options<ki_apiserver_options>();
    options.no_garbage_collection = true; /* the owner does not exist */
    ki::apiserver server(&options);
    const auto owner = ki::object::from_json(
        R"({"kind": "Deployment", "apiVersion": "apps/v1", "metadata": {"name": "d", "uid": "u",
            "namespace": "default"}})");
    const auto owned = ki::edit(ki::object::from_json(config_map("a"))).add_owner(owner).object();
    (void)server.load(owned.json());
    (void)server.load(config_map("b"));
    ki::client client = server.client();
    auto maps = client.informer(KI_CORE_V1_CONFIGMAPS);
    ki::workqueue by_owner;
    ki::workqueue mapped;
    maps.enqueue(by_owner, KI_APPS_V1_DEPLOYMENTS);
    const auto alive = std::make_shared<int>(1);
    maps.enqueue(mapped, [alive](const ki::change &c, ki::workqueue &queue) {
        if (c.object().name() == "b") {
            throw std::runtime_error("no key");
        }
        queue.add("x/" + std::string(c.object().name()));
    });
    client.start();
    client.wait_for_sync(30s);
    events seen;
    const auto collect = [&](std::string_view key) { seen.add(key); };
    ki::controller first(by_owner, collect);
    ki::controller second(mapped, collect);
    CHECK(first.work_one() && !first.work_one() && second.work_one() && !second.work_one());
    CHECK((seen.all() == std::vector<std::string>{"default/d", "x/a"}));
    first.close();
    second.close();
    CHECK(alive.use_count() == 2);
    client = ki::client(static_cast<ki_client *>(nullptr)); /* closes it */
    CHECK(alive.use_count() == 1);
}

static void factories_work()
{
    ki::apiserver server;
    (void)server.load(web);
    ki::client client = server.client();
    {
        auto factory = client.factory();
        auto pods = factory.informer(KI_CORE_V1_PODS);
        factory.start();
        factory.wait_for_sync(30s);
        CHECK(pods.list().size() == 1 && pods.name() == "pods");
        factory.stop();
        CHECK(factory.try_informer(KI_CORE_V1_NODES).error().code() == KI_ERR_STOPPED);
    }
    auto pods = client.informer(KI_CORE_V1_PODS);
    CHECK(pods.try_wait_for_sync(0ms).error().is_timeout());
}

int main()
{
    void (*const tests[])() = {
        handles_are_owned,
        values_are_read,
        ranges_are_walked,
        objects_are_built,
        objects_are_changed,
        errors_in_both_forms,
        requests_are_made,
        writes_are_repeated,
        changes_are_delivered,
        caches_are_read,
        exceptions_of_handlers_are_reported,
        exceptions_of_reconcilers_are_retried,
        reconcilers_return_results,
        reconciles_complete_later,
        maps_add_keys,
        factories_work,
    };
    for (auto *test : tests) {
        test();
    }
    std::printf("%zu passed, 0 failed\n", std::size(tests));
    return 0;
}
