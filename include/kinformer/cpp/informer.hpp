/* SPDX-License-Identifier: Apache-2.0 */
/* Handlers and informers in C++. Include <kinformer/kinformer.hpp>. */
#ifndef KINFORMER_CPP_INFORMER_HPP
#define KINFORMER_CPP_INFORMER_HPP

#include <kinformer/cpp/store.hpp>
#include <kinformer/cpp/workqueue.hpp>
#include <kinformer/health.h>
#include <kinformer/index.h>
#include <kinformer/registration.h>

namespace ki
{

/* ---- changes and handlers ---- */

/** A change of an object, for the time of the callback. */
class change
{
  public:
    explicit change(const ki_change *c) noexcept : change_(c)
    {
    }
    const ki_change *get() const noexcept
    {
        return change_;
    }

    ki_change_type type() const noexcept
    {
        return change_->type;
    }
    /** "added", "updated", "deleted" or "sync". */
    std::string_view name() const noexcept
    {
        return ki_change_name(change_);
    }
    /** The object as it is now; of a deletion the last known state. */
    object_ref object() const noexcept
    {
        return change_->object;
    }
    /** The state before; null of an addition. */
    object_ref old() const noexcept
    {
        return change_->old;
    }
    bool added() const noexcept
    {
        return type() == KI_CHANGE_ADDED;
    }
    bool updated() const noexcept
    {
        return type() == KI_CHANGE_UPDATED;
    }
    bool deleted() const noexcept
    {
        return type() == KI_CHANGE_DELETED;
    }
    bool sync() const noexcept
    {
        return type() == KI_CHANGE_SYNC;
    }
    /** Of an addition: the object existed when the informer or the handler started. */
    bool initial() const noexcept
    {
        return change_->initial;
    }
    /** Of a deletion that was not observed. */
    bool final_state_unknown() const noexcept
    {
        return change_->final_state_unknown;
    }
    /** Events that were merged into this one. */
    uint64_t merged() const noexcept
    {
        return change_->merged;
    }

  private:
    const ki_change *change_;
};

/** What informer.add_handler() registers. Functions may be empty. If one throws, the library
 *  reports it (ki_informer_report_failure()) with the message of the exception: to on_report of
 *  ki_loop_options, or to the log. Delivery continues with the next event; an object for which the
 *  filter throws does not pass. */
struct handler {
    std::function<void(const change &)> on_change;
    std::function<bool(object_ref)> filter;
    std::function<void()> on_synced;            /* once, after the initial objects */
    std::string name;                           /* for reports */
    ki_delivery delivery = KI_DELIVERY_DEFAULT; /* as in ki_handler_options */
    std::chrono::milliseconds resync{0};        /* 0: as the informer */
    size_t queue_limit = 0;                     /* 0: the default */
};

/** A handler on an informer. Releasing it does not remove the handler. */
class registration : public shared<ki_registration, ki_registration_ref, ki_registration_unref>
{
  public:
    using shared::shared;

    bool has_synced() const noexcept
    {
        return ki_registration_has_synced(get());
    }
    /** Removes the handler. A callback that is running on another thread continues. */
    void remove() noexcept
    {
        ki_registration_remove(get());
    }
    /** Removes the handler and waits for a running callback. */
    void remove_wait()
    {
        try_remove_wait().value();
    }
    result<void> try_remove_wait()
    {
        return detail::check(ki_registration_remove_wait(get()));
    }
};

namespace detail
{
/* The state of a handler, and the table of callbacks for it. */
struct handler_state {
    ki::handler functions;
    ki_informer *informer; /* lives longer than its handlers */

    static handler_state *of(void *user) noexcept
    {
        return static_cast<handler_state *>(user);
    }

    /* Calls a function for an object; exceptions are reported. */
    template <typename Body> int call(const ki_object *o, Body &&body) noexcept
    {
        return guard(body, [&](const ki::error &e) {
            ki_error failure = KI_ERROR_INIT;
            (void)e.fill(&failure);
            ki_informer_report_failure(informer, o, &failure);
        });
    }

    ki_handler table() noexcept
    {
        auto h = options<ki_handler>();
        h.user = this;
        h.destroy = destroy<handler_state>;
        if (functions.on_change) {
            h.on_change = [](const ki_change *c, void *user) noexcept {
                (void)of(user)->call(c->object, [&] {
                    of(user)->functions.on_change(change(c));
                    return 0;
                });
            };
        }
        if (functions.filter) {
            h.filter = [](const ki_object *o, void *user) noexcept {
                return of(user)->call(o, [&] { return of(user)->functions.filter(o) ? 1 : 0; }) ==
                       1;
            };
        }
        return h;
    }
    ki_handler_options how() noexcept
    {
        auto o = options<ki_handler_options>();
        o.name = functions.name.c_str();
        o.delivery = functions.delivery;
        o.resync_ms = timeout_ms(functions.resync);
        o.queue_limit = functions.queue_limit;
        o.user = this;
        if (functions.on_synced) {
            o.on_synced = [](void *user) noexcept {
                (void)of(user)->call(nullptr, [&] {
                    of(user)->functions.on_synced();
                    return 0;
                });
            };
        }
        return o;
    }
};
} // namespace detail

/* ---- informers ---- */

/** A cache of one resource, kept current. From ki::client::informer(). */
class informer : public shared<ki_informer, ki_informer_ref, ki_informer_unref>
{
  public:
    using shared::get;
    using shared::shared;

    /** Calls `fn` for every change, beginning with the existing objects, until the informer stops
     *  or the registration is removed. `fn` is destroyed after its last call. */
    registration on_change(std::function<void(const change &)> fn)
    {
        return try_on_change(std::move(fn)).value();
    }
    result<registration> try_on_change(std::function<void(const change &)> fn)
    {
        ki::handler h;
        h.on_change = std::move(fn);
        return try_add_handler(std::move(h));
    }
    registration add_handler(ki::handler h)
    {
        return try_add_handler(std::move(h)).value();
    }
    result<registration> try_add_handler(ki::handler h)
    {
        auto state = std::make_unique<detail::handler_state>();
        state->functions = std::move(h);
        state->informer = get();
        const ki_handler table = state->table();
        const ki_handler_options how = state->how();
        auto made = detail::make<registration>([&](ki_registration **ret, ki_error *e) {
            return ki_informer_add_handler(get(), &table, &how, ret, e);
        });
        if (made) {
            (void)state.release(); /* destroyed by the informer */
        }
        return made;
    }

    /** Adds the keys of changed objects to a queue: of the objects, or of their controlling owners
     *  of a resource. */
    void enqueue(const workqueue &queue, const resource &owner = {})
    {
        try_enqueue(queue, owner).value();
    }
    result<void> try_enqueue(const workqueue &queue, const resource &owner = {})
    {
        auto o = options<ki_enqueue_options>();
        o.owner = owner.get();
        return detail::run(
            [&](ki_error *e) { return ki_informer_enqueue(get(), queue.get(), &o, e); });
    }

    /** The same with options, such as priorities. */
    void enqueue(const workqueue &queue, const ki_enqueue_options &o)
    {
        try_enqueue(queue, o).value();
    }
    result<void> try_enqueue(const workqueue &queue, const ki_enqueue_options &o)
    {
        return detail::run(
            [&](ki_error *e) { return ki_informer_enqueue(get(), queue.get(), &o, e); });
    }

    /** Calls `map` for every change to add keys to the queue itself. Exceptions of it are those of
     *  a handler. */
    template <typename Map,
              typename = std::enable_if_t<std::is_invocable_v<Map &, const change &, workqueue &>>>
    void enqueue(const workqueue &queue, Map map)
    {
        try_enqueue(queue, std::move(map)).value();
    }
    template <typename Map,
              typename = std::enable_if_t<std::is_invocable_v<Map &, const change &, workqueue &>>>
    result<void> try_enqueue(const workqueue &queue, Map map)
    {
        ki::handler h;
        h.name = "enqueue";
        h.on_change = [to = workqueue(queue), map = std::move(map)](const change &c) mutable {
            map(c, to);
        };
        auto added = try_add_handler(std::move(h));
        if (!added) {
            return added.error();
        }
        return {};
    }

    /** The object of this name in the cache; null if there is none. */
    object get(const text &name_space, const text &name) const noexcept
    {
        return object(ki_informer_get(get(), name_space.c_str(), name.c_str()));
    }
    /** The object with a key, "namespace/name" or "name"; null if there is none. */
    object find(const text &key) const noexcept
    {
        return object(ki_store_get(ki_informer_store(get()), key.c_str()));
    }
    /** Objects of a namespace ("": of all) by label selector, such as "app=web". */
    ki::list list(const text &name_space = nullptr, const text &selector = nullptr) const
    {
        return try_list(name_space, selector).value();
    }
    result<ki::list> try_list(const text &name_space = nullptr,
                              const text &selector = nullptr) const
    {
        return detail::make<ki::list>([&](ki_list **ret, ki_error *e) {
            return ki_informer_list(get(), name_space.c_str(), selector.c_str(), ret, e);
        });
    }
    ki::list by_index(const text &index, std::string_view value) const
    {
        return store().by_index(index, value);
    }
    result<ki::list> try_by_index(const text &index, std::string_view value) const
    {
        return store().try_by_index(index, value);
    }
    ki::snapshot snapshot() const noexcept
    {
        return store().snapshot();
    }
    ki::store store() const noexcept
    {
        return ki::store(borrowed, ki_informer_store(get()));
    }

    void add_index(index added)
    {
        try_add_index(std::move(added)).value();
    }
    result<void> try_add_index(index added)
    {
        const ki_index *one = added.get();
        auto done =
            detail::run([&](ki_error *e) { return ki_informer_add_indexes(get(), &one, 1, e); });
        if (done) {
            added.release();
        }
        return done;
    }

    void wait_for_sync(std::chrono::milliseconds timeout = forever)
    {
        try_wait_for_sync(timeout).value();
    }
    result<void> try_wait_for_sync(std::chrono::milliseconds timeout = forever)
    {
        return detail::run([&](ki_error *e) {
            return ki_informer_wait_for_sync(get(), detail::timeout_ms(timeout), e);
        });
    }
    bool has_synced() const noexcept
    {
        return ki_informer_has_synced(get());
    }
    void stop() noexcept
    {
        ki_informer_stop(get());
    }
    std::string_view name() const noexcept
    {
        return ki_informer_name(get());
    }
};

} // namespace ki

#endif
