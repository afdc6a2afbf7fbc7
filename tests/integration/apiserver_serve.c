/* SPDX-License-Identifier: Apache-2.0 */
/* The embedded API server as a process, for tests that are written in other languages and for
 * trying things by hand. Says "url URL", writes a kubeconfig, and runs until its input ends.
 *
 * Usage: apiserver_serve [--tls] [--token T] [--listen A] [--fault F] [--any-namespace]
 *                        [--kubeconfig FILE] [--load FILE]... */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <kinformer/apiserver.h>

static void die(const char *what, const char *why)
{
    fprintf(stderr, "apiserver_serve: %s: %s\n", what, why);
    exit(1);
}

static void load(ki_apiserver *server, const char *path)
{
    FILE *file = fopen(path, "r");
    if (file == NULL) {
        die(path, "cannot be opened");
    }
    ki_buf text;
    char piece[65536];
    size_t got;
    ki_buf_init(&text, NULL, (size_t)1 << 30);
    while ((got = fread(piece, 1, sizeof(piece), file)) != 0) {
        if (ki_buf_add(&text, piece, got) < 0) {
            die(path, "too large");
        }
    }
    fclose(file);
    ki_error error = KI_ERROR_INIT;
    size_t count;
    if (ki_apiserver_load(server, ki_buf_str(&text), &count, &error) < 0) {
        die(path, error.message);
    }
    fprintf(stderr, "loaded %zu objects\n", count);
    ki_buf_done(&text);
}

static void write_kubeconfig(ki_apiserver *server, const char *path)
{
    ki_buf text;
    ki_buf_init(&text, NULL, 1 << 20);
    FILE *file = fopen(path, "w");
    if (file == NULL || ki_apiserver_write_kubeconfig(server, &text) < 0 ||
        fwrite(text.data, 1, text.len, file) != text.len || fclose(file) != 0) {
        die(path, "cannot be written");
    }
    ki_buf_done(&text);
}

int main(int argc, char **argv)
{
    ki_apiserver_options options = KI_OPTIONS_INIT(ki_apiserver_options);
    const char *kubeconfig = NULL;
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        if (strcmp(argv[i], "--tls") == 0) {
            options.tls = true;
        } else if (strcmp(argv[i], "--any-namespace") == 0) {
            options.any_namespace = true;
        } else if (strcmp(argv[i], "--no-garbage-collection") == 0) {
            options.no_garbage_collection = true;
        } else if (strcmp(argv[i], "--token") == 0) {
            options.token = value;
        } else if (strcmp(argv[i], "--listen") == 0) {
            options.listen = value;
        } else if (strcmp(argv[i], "--fault") == 0) {
            options.faults = value;
        } else if (strcmp(argv[i], "--kubeconfig") == 0) {
            kubeconfig = value;
        }
    }
    ki_apiserver *server;
    ki_error error = KI_ERROR_INIT;
    if (ki_apiserver_new(&options, &server, &error) < 0) {
        die("cannot start", error.message);
    }
    for (int i = 1; i + 1 < argc; i++) {
        if (strcmp(argv[i], "--load") == 0) {
            load(server, argv[i + 1]);
        }
    }
    if (kubeconfig != NULL) {
        write_kubeconfig(server, kubeconfig);
    }
    printf("url %s\n", ki_apiserver_url(server));
    fflush(stdout);
    char byte;
    while (read(0, &byte, 1) > 0) {
    }
    ki_apiserver_unref(server);
    return 0;
}
