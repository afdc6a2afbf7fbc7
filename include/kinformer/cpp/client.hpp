/* SPDX-License-Identifier: Apache-2.0 */
/* The client and its requests in C++. Include <kinformer/kinformer.hpp>. */
#ifndef KINFORMER_CPP_CLIENT_HPP
#define KINFORMER_CPP_CLIENT_HPP

#include <kinformer/call.h>
#include <kinformer/config.h>
#include <kinformer/cpp/informer.hpp>
#include <kinformer/cpp/write.hpp>
#include <kinformer/discovery.h>
#include <kinformer/loop.h>

namespace ki
{

using call = shared<ki_call, ki_call_ref, ki_call_unref>;
using discovery = shared<const ki_discovery, ki_discovery_ref, ki_discovery_unref>;
using loop = shared<ki_loop, ki_loop_ref, ki_loop_unref>;

/** A configuration: a kubeconfig, or that of the pod. */
class config : public shared<const ki_config, ki_config_ref, ki_config_unref>
{
  public:
    using shared::shared;

    /** As kubectl finds it, or that of the pod. */
    static config load(const ki_config_options *options = nullptr)
    {
        return try_load(options).value();
    }
    static result<config> try_load(const ki_config_options *options = nullptr)
    {
        return detail::make<config>([&](const ki_config **ret, ki_error *e) {
            ki_config *made = nullptr;
            int r = ki_config_load(options, &made, e);
            *ret = made;
            return r;
        });
    }
    std::string_view server() const noexcept
    {
        return ki_config_server(get());
    }
    std::string_view name_space() const noexcept
    {
        return ki_config_namespace(get());
    }
};

/** The informers of several resources on one client; see ki_factory. */
class factory : public shared<ki_factory, ki_factory_ref, ki_factory_unref>
{
  public:
    using shared::shared;

    ki::informer informer(const resource &of)
    {
        return try_informer(of).value();
    }
    result<ki::informer> try_informer(const resource &of)
    {
        return detail::make<ki::informer>([&](ki_informer **ret, ki_error *e) {
            int r = ki_factory_informer(get(), of.get(), NULL, ret, e);
            (void)ki_informer_ref(r < 0 ? nullptr : *ret);
            return r;
        });
    }
    void start()
    {
        try_start().value();
    }
    result<void> try_start()
    {
        return detail::run([&](ki_error *e) { return ki_factory_start(get(), e); });
    }
    void wait_for_sync(std::chrono::milliseconds timeout = forever)
    {
        try_wait_for_sync(timeout).value();
    }
    result<void> try_wait_for_sync(std::chrono::milliseconds timeout = forever)
    {
        return detail::run([&](ki_error *e) {
            return ki_factory_wait_for_sync(get(), detail::timeout_ms(timeout), e);
        });
    }
    void stop() noexcept
    {
        ki_factory_stop(get());
    }
};

/** The response to a request of client.send(). */
class response
{
  public:
    response() noexcept : response_(options<ki_response>())
    {
    }
    response(response &&other) noexcept
        : response_(std::exchange(other.response_, options<ki_response>()))
    {
    }
    response &operator=(response &&other) noexcept
    {
        response moved(std::move(other));
        std::swap(response_, moved.response_);
        return *this;
    }
    ~response()
    {
        ki_response_done(&response_);
    }
    ki_response *get() noexcept
    {
        return &response_;
    }
    const ki_response *operator->() const noexcept
    {
        return &response_;
    }
    object_ref object() const noexcept
    {
        return response_.object;
    }
    std::string_view body() const noexcept
    {
        return view(response_.body);
    }

  private:
    ki_response response_;
};

/** What client.create_or_patch() and client.patch() did, and the object as the server has it. */
struct written {
    ki_written what;
    ki::object object;
};

/** Connections to one API server, with a thread of its own. Has one owner: the destructor stops the
 *  informers and waits for the thread (ki_client_close()), so it must not run inside a callback,
 *  and what callbacks use must outlive it. Requests block until the server has responded. */
class client : public unique<ki_client, ki_client_close>
{
  public:
    using unique::get;
    using unique::unique;

    /** Configured as kubectl is, or as the pod that the program runs in. */
    explicit client(const ki_client_options *options = nullptr) : client(try_new(options).value())
    {
    }
    static result<client> try_new(const ki_client_options *options = nullptr)
    {
        return detail::make<client>(
            [&](ki_client **ret, ki_error *e) { return ki_client_new(options, ret, e); });
    }

    /* ---- informers ---- */

    /** The shared informer of a resource, or with options an informer of its own. */
    ki::informer informer(const resource &of, const ki_informer_options *options = nullptr)
    {
        return try_informer(of, options).value();
    }
    result<ki::informer> try_informer(const resource &of,
                                      const ki_informer_options *options = nullptr)
    {
        return detail::make<ki::informer>([&](ki_informer **ret, ki_error *e) {
            return ki_client_informer(get(), of.get(), options, ret, e);
        });
    }
    /** An informer of the objects that a label selector, such as "app=web", matches. */
    ki::informer informer(const resource &of, const text &selector)
    {
        return try_informer(of, selector).value();
    }
    result<ki::informer> try_informer(const resource &of, const text &selector)
    {
        auto o = options<ki_informer_options>();
        o.label_selector = selector.c_str();
        return try_informer(of, &o);
    }
    /** Starts the informers that are not started. */
    void start()
    {
        try_start().value();
    }
    result<void> try_start()
    {
        return detail::run([&](ki_error *e) { return ki_client_start(get(), e); });
    }
    void wait_for_sync(std::chrono::milliseconds timeout = forever)
    {
        try_wait_for_sync(timeout).value();
    }
    result<void> try_wait_for_sync(std::chrono::milliseconds timeout = forever)
    {
        return detail::run([&](ki_error *e) {
            return ki_client_wait_for_sync(get(), detail::timeout_ms(timeout), e);
        });
    }
    ki::factory factory(const ki_factory_options *options = nullptr)
    {
        return try_factory(options).value();
    }
    result<ki::factory> try_factory(const ki_factory_options *options = nullptr)
    {
        return detail::make<ki::factory>([&](ki_factory **ret, ki_error *e) {
            return ki_client_factory(get(), options, ret, e);
        });
    }
    /** The resource that a name, such as "deploy" or "widgets.example.com", means. */
    resource resolve(const text &name)
    {
        return try_resolve(name).value();
    }
    result<resource> try_resolve(const text &name)
    {
        ki_resource *found = nullptr;
        ki_error failure = KI_ERROR_INIT;
        int r = ki_client_resolve(get(), name.c_str(), &found, &failure);
        if (r < 0) {
            return ki::error(r, failure);
        }
        resource made(found);
        (void)ki_resource_unref(found);
        return made;
    }

    /* ---- requests ---- */

    ki::object get(const resource &of, const text &name_space, const text &name)
    {
        return try_get(of, name_space, name).value();
    }
    result<ki::object> try_get(const resource &of, const text &name_space, const text &name)
    {
        return ask([&](ki_object **ret, ki_object **status, ki_error *e) {
            return ki_client_get(get(), of.get(), name_space.c_str(), name.c_str(), ret, status, e);
        });
    }

    /** All objects of a namespace ("": of all), by label selector. */
    ki::list list(const resource &of, const text &name_space = nullptr,
                  const text &selector = nullptr)
    {
        return try_list(of, name_space, selector).value();
    }
    result<ki::list> try_list(const resource &of, const text &name_space = nullptr,
                              const text &selector = nullptr)
    {
        auto o = options<ki_list_options>();
        o.label_selector = selector.c_str();
        return try_list_with(of, name_space, o);
    }
    ki::list list_with(const resource &of, const text &name_space, const ki_list_options &options)
    {
        return try_list_with(of, name_space, options).value();
    }
    result<ki::list> try_list_with(const resource &of, const text &name_space,
                                   const ki_list_options &options)
    {
        return ask<ki::list>([&](ki_list **ret, ki_object **status, ki_error *e) {
            return ki_client_list(get(), of.get(), name_space.c_str(), &options, ret, status, e);
        });
    }

    ki::object create(const resource &of, object_ref o)
    {
        return try_create(of, o).value();
    }
    result<ki::object> try_create(const resource &of, object_ref o)
    {
        return ask([&](ki_object **ret, ki_object **status, ki_error *e) {
            return ki_client_create(get(), of.get(), o.get(), ret, status, e);
        });
    }
    /** A conflict if the object has changed since it was read. */
    ki::object update(const resource &of, object_ref o)
    {
        return try_update(of, o).value();
    }
    result<ki::object> try_update(const resource &of, object_ref o)
    {
        return ask([&](ki_object **ret, ki_object **status, ki_error *e) {
            return ki_client_update(get(), of.get(), o.get(), ret, status, e);
        });
    }
    ki::object update_status(const resource &of, object_ref o)
    {
        return try_update_status(of, o).value();
    }
    result<ki::object> try_update_status(const resource &of, object_ref o)
    {
        return ask([&](ki_object **ret, ki_object **status, ki_error *e) {
            return ki_client_update_status(get(), of.get(), o.get(), ret, status, e);
        });
    }
    ki::object patch(const resource &of, const text &name_space, const text &name,
                     ki_patch_type type, std::string_view body)
    {
        return try_patch(of, name_space, name, type, body).value();
    }
    result<ki::object> try_patch(const resource &of, const text &name_space, const text &name,
                                 ki_patch_type type, std::string_view body)
    {
        return ask([&](ki_object **ret, ki_object **status, ki_error *e) {
            return ki_client_patch(get(), of.get(), name_space.c_str(), name.c_str(), type,
                                   str(body), ret, status, e);
        });
    }
    /** Sends the changes of an edit, if there are any. `subresource` may be "status". */
    written patch(const resource &of, const edit &changes, const text &subresource = nullptr)
    {
        return try_patch(of, changes, subresource).value();
    }
    result<written> try_patch(const resource &of, const edit &changes,
                              const text &subresource = nullptr)
    {
        return write([&](ki_object **ret, ki_error *e) {
            return ki_client_patch_edit(get(), of.get(), changes.get(), subresource.c_str(), ret,
                                        e);
        });
    }
    /** Server-side apply. */
    ki::object apply(const resource &of, object_ref o, const text &field_manager,
                     bool force = false)
    {
        return try_apply(of, o, field_manager, force).value();
    }
    result<ki::object> try_apply(const resource &of, object_ref o, const text &field_manager,
                                 bool force = false)
    {
        return ask([&](ki_object **ret, ki_object **status, ki_error *e) {
            return ki_client_apply(get(), of.get(), o.get(), field_manager.c_str(), force, ret,
                                   status, e);
        });
    }
    /** Deletes an object. */
    void remove(const resource &of, const text &name_space, const text &name)
    {
        try_remove(of, name_space, name).value();
    }
    result<void> try_remove(const resource &of, const text &name_space, const text &name)
    {
        ki_object *status = nullptr;
        ki_error failure = KI_ERROR_INIT;
        int r =
            ki_client_delete(get(), of.get(), name_space.c_str(), name.c_str(), &status, &failure);
        if (r < 0) {
            return ki::error(r, failure, status);
        }
        return {};
    }

    /** Deletes this object: a conflict if there is another one of its name. */
    void remove(const resource &of, object_ref o)
    {
        try_remove(of, o).value();
    }
    result<void> try_remove(const resource &of, object_ref o)
    {
        ki_object *status = nullptr;
        ki_error failure = KI_ERROR_INIT;
        int r = ki_client_delete_object(get(), of.get(), o.get(), &status, &failure);
        if (r < 0) {
            return ki::error(r, failure, status);
        }
        return {};
    }

    /** Makes sure that an object exists and is as `mutate`, called as mutate(ki::edit &), makes it:
     *  creates it, sends the smallest patch, or nothing. `current` is the object as far as it is
     *  known, such as from a cache. `mutate` may be called several times. If it throws, nothing is
     *  sent, and both forms throw the same exception. */
    template <typename Mutate>
    written create_or_patch(const resource &of, const text &name_space, const text &name,
                            Mutate &&mutate, object_ref current = {})
    {
        return try_create_or_patch(of, name_space, name, mutate, current).value();
    }
    template <typename Mutate>
    result<written> try_create_or_patch(const resource &of, const text &name_space,
                                        const text &name, Mutate &&mutate, object_ref current = {})
    {
        mutation<Mutate> m{mutate, nullptr};
        auto done = write([&](ki_object **ret, ki_error *e) {
            return ki_client_create_or_patch(get(), of.get(), name_space.c_str(), name.c_str(),
                                             current.get(), mutation<Mutate>::call, &m, ret, e);
        });
        m.rethrow();
        return done;
    }

    /** Changes an existing object, or a subresource of it such as "status", as `mutate` does: sends
     *  the smallest patch, or nothing. If it has changed on the server meanwhile, it is read again.
     *  Otherwise as create_or_patch(). */
    template <typename Mutate>
    written modify(const resource &of, object_ref o, Mutate &&mutate,
                   const text &subresource = nullptr)
    {
        return try_modify(of, o, mutate, subresource).value();
    }
    template <typename Mutate>
    result<written> try_modify(const resource &of, object_ref o, Mutate &&mutate,
                               const text &subresource = nullptr)
    {
        mutation<Mutate> m{mutate, nullptr};
        auto done = write([&](ki_object **ret, ki_error *e) {
            return ki_client_modify(get(), of.get(), o.get(), subresource.c_str(),
                                    mutation<Mutate>::call, &m, ret, e);
        });
        m.rethrow();
        return done;
    }

    /** Calls `attempt`, which reads, changes and writes an object, until it does not fail with a
     *  conflict, five times at most. It returns ki::result<void>, or nothing and throws. */
    template <typename Attempt> void retry_on_conflict(Attempt &&attempt)
    {
        try_retry_on_conflict(attempt).value();
    }
    template <typename Attempt> result<void> try_retry_on_conflict(Attempt &&attempt)
    {
        trial<Attempt> t{attempt, std::nullopt};
        int r = ki_client_retry_on_conflict(get(), trial<Attempt>::call, &t, nullptr);
        if (r < 0) {
            return t.failure && t.failure->code() == r ? *t.failure : ki::error(r);
        }
        return {};
    }

    /** Any request. */
    response send(const ki_request &request)
    {
        return try_send(request).value();
    }
    result<response> try_send(const ki_request &request)
    {
        response got;
        ki_error failure = KI_ERROR_INIT;
        int r = ki_client_do(get(), &request, got.get(), &failure);
        if (r < 0) {
            return ki::error(r, failure, ki_object_ref(got->object));
        }
        return got;
    }

  private:
    template <typename Handle = ki::object, typename Call> static result<Handle> ask(Call request)
    {
        typename Handle::pointer made = nullptr;
        ki_object *status = nullptr;
        ki_error failure = KI_ERROR_INIT;
        int r = request(&made, &status, &failure);
        if (r < 0) {
            return ki::error(r, failure, status);
        }
        return Handle(made);
    }

    template <typename Call> static result<written> write(Call request)
    {
        ki_object *made = nullptr;
        ki_error failure = KI_ERROR_INIT;
        int r = request(&made, &failure);
        if (r < 0) {
            return ki::error(r, failure);
        }
        return written{static_cast<ki_written>(r), ki::object(made)};
    }

    template <typename Function> struct mutation {
        Function &function;
        std::exception_ptr thrown;

        static void call(ki_edit *borrowed_edit, void *user) noexcept
        {
            auto *self = static_cast<mutation *>(user);
            edit changes(borrowed_edit);
#if KI_CPP_EXCEPTIONS
            try {
                self->function(changes);
            } catch (...) {
                self->thrown = std::current_exception();
                ki_edit_remove(borrowed_edit, "["); /* fails: nothing is sent */
            }
#else
            self->function(changes);
#endif
            (void)changes.release();
        }
        void rethrow() const
        {
#if KI_CPP_EXCEPTIONS
            if (thrown) {
                std::rethrow_exception(thrown);
            }
#endif
        }
    };

    template <typename Function> struct trial {
        Function &function;
        std::optional<ki::error> failure;

        static int call(void *user, ki_error *error) noexcept
        {
            auto *self = static_cast<trial *>(user);
            self->failure.reset();
            (void)detail::guard(
                [&] {
                    if constexpr (std::is_void_v<std::invoke_result_t<Function &>>) {
                        self->function();
                    } else {
                        const result<void> done = self->function();
                        if (!done) {
                            self->failure = done.error();
                        }
                    }
                    return 0;
                },
                [&](const ki::error &e) { self->failure = e; });
            return self->failure ? self->failure->fill(error) : 0;
        }
    };
};

} // namespace ki

#endif
