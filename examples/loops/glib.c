/* SPDX-License-Identifier: Apache-2.0 */
/* kinformer inside a GLib main loop: one source, and no thread. */
#include <glib-unix.h>

#include "demo.h"

static gboolean on_readable(gint fd, GIOCondition condition, gpointer user)
{
    (void)fd;
    (void)condition;
    demo *d = user;
    if (ki_loop_dispatch(d->loop) < 0) {
        g_main_loop_quit(d->user);
    }
    return G_SOURCE_CONTINUE;
}

static gboolean on_timer(gpointer user)
{
    demo_change(user); /* the program's own business */
    return G_SOURCE_REMOVE;
}

static void finished(demo *d)
{
    g_main_loop_quit(d->user);
}

int main(void)
{
    GMainLoop *loop = g_main_loop_new(NULL, FALSE);
    demo d = {.finished = finished, .user = loop};
    ki_error error = KI_ERROR_INIT;
    int r = demo_begin(&d, &error);
    if (r == 0) {
        guint poll = g_unix_fd_add(ki_loop_fd(d.loop), G_IO_IN, on_readable, &d);
        g_timeout_add(50, on_timer, &d);

        g_main_loop_run(loop);

        g_source_remove(poll);
    }
    g_main_loop_unref(loop);
    return demo_end(&d, r, &error);
}
