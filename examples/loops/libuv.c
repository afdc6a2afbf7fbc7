/* SPDX-License-Identifier: Apache-2.0 */
/* kinformer inside a libuv loop: one poll handle, and no thread. */
#include <uv.h>

#include "demo.h"

static void on_readable(uv_poll_t *poll, int status, int events)
{
    (void)events;
    demo *d = poll->data;
    if (status < 0 || ki_loop_dispatch(d->loop) < 0) {
        uv_stop(poll->loop);
    }
}

static void on_timer(uv_timer_t *timer)
{
    demo_change(timer->data); /* the program's own business */
}

static void finished(demo *d)
{
    uv_stop(d->user);
}

int main(void)
{
    uv_loop_t *loop = uv_default_loop();
    demo d = {.finished = finished, .user = loop};
    ki_error error = KI_ERROR_INIT;
    int r = demo_begin(&d, &error);
    if (r < 0) {
        return demo_end(&d, r, &error);
    }
    uv_poll_t poll = {.data = &d};
    uv_timer_t timer = {.data = &d};
    uv_poll_init(loop, &poll, ki_loop_fd(d.loop));
    uv_poll_start(&poll, UV_READABLE, on_readable);
    uv_timer_init(loop, &timer);
    uv_timer_start(&timer, on_timer, 50, 0);

    uv_run(loop, UV_RUN_DEFAULT);

    uv_close((uv_handle_t *)&poll, NULL);
    uv_close((uv_handle_t *)&timer, NULL);
    uv_run(loop, UV_RUN_DEFAULT); /* lets the handles go */
    uv_loop_close(loop);
    return demo_end(&d, r, &error);
}
