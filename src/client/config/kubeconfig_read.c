/* SPDX-License-Identifier: Apache-2.0 */
/* Selects and reads the files. As in client-go: one named file, which must exist; or a list, of
 * which some may be missing. Any other problem with a file is an error; it is never ignored. */
#include <errno.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/log.h"
#include "client/config/file.h"
#include "client/config/kubeconfig.h"

/* Paths to read. */
typedef struct path_list {
    ki_str paths[KI_CONFIG_FILES];
    size_t count;
} path_list;

/* Skips duplicates and empty paths. */
static int add_path(path_list *list, ki_str path, ki_error *error)
{
    for (size_t i = 0; i < list->count; i++) {
        if (ki_str_eq(list->paths[i], path)) {
            return 0;
        }
    }
    if (path.len == 0) {
        return 0;
    }
    if (list->count == KI_CONFIG_FILES) {
        return ki__error_set(error, KI_ERR_LIMIT, "more than %d kubeconfig files", KI_CONFIG_FILES);
    }
    list->paths[list->count++] = path;
    return 0;
}

static int split_paths(path_list *list, ki_str text, ki_error *error)
{
    int r = 0;
    while (r >= 0 && text.len != 0) {
        const char *colon = memchr(text.ptr, ':', text.len);
        size_t len = colon != NULL ? (size_t)(colon - text.ptr) : text.len;
        r = add_path(list, ki_str_make(text.ptr, len), error);
        size_t taken = colon != NULL ? len + 1 : len;
        text = ki_str_make(text.ptr + taken, text.len - taken);
    }
    return r;
}

/* $HOME/.kube/config. None without $HOME: client-go would use the working directory, where any user
 * may have placed a file. */
static int add_home(path_list *list, ki__kubeconfig *kubeconfig, ki_error *error)
{
    static const char tail[] = "/.kube/config";
    const char *home = ki__config_variable(kubeconfig->options, "HOME");
    if (home == NULL) {
        return 0;
    }
    size_t len = strlen(home);
    char *path = ki__secrets_take(&kubeconfig->secrets, len + sizeof(tail));
    if (path == NULL) {
        return ki__error_code(error, -ENOMEM);
    }
    memcpy(path, home, len);
    memcpy(path + len, tail, sizeof(tail));
    return add_path(list, ki_str_make(path, len + sizeof(tail) - 1), error);
}

static int find_paths(path_list *list, ki__kubeconfig *kubeconfig, ki_error *error)
{
    const ki_config_options *options = kubeconfig->options;
    if (options->path != NULL) {
        return add_path(list, ki_str_from(options->path), error);
    }
    int r = 0;
    if (options->paths != NULL) {
        for (size_t i = 0; r >= 0 && options->paths[i] != NULL; i++) {
            r = add_path(list, ki_str_from(options->paths[i]), error);
        }
        return r;
    }
    const char *variable = ki__config_variable(options, "KUBECONFIG");
    return variable != NULL ? split_paths(list, ki_str_from(variable), error)
                            : add_home(list, kubeconfig, error);
}

/* Parses a text as the next file. */
static int add_text(ki__kubeconfig *kubeconfig, const char *label, const char *folder, ki_str text,
                    ki_error *error)
{
    const ki_config_options *options = kubeconfig->options;
    ki__kubeconfig_file *file = &kubeconfig->files[kubeconfig->count];
    file->label = label;
    file->folder = folder;
    ki_error inner = KI_ERROR_INIT;
    int r = ki__yaml_read(text, KI__YAML_CONFIG_DEPTH, options->alloc, &file->yaml, &inner);
    if (r < 0) {
        r = ki__config_error(error, r, label, inner.line, inner.message, NULL);
        if (error != NULL) {
            error->column = inner.column;
            error->offset = inner.offset;
        }
        return r;
    }
    kubeconfig->count++;
    return ki__kubeconfig_check(file, options->max_entries, options->alloc, error);
}

/* Based on the open file: its path may refer to another one later. */
static ki_config_trust trust_of(const ki__file_info *info)
{
    if (info->foreign) {
        return KI_CONFIG_TRUST_FOREIGN;
    }
    return info->group_write || info->others_write ? KI_CONFIG_TRUST_SHARED : KI_CONFIG_TRUST_OWN;
}

/* 1 if the file was read, 0 if it is missing and optional. */
static int add_file(ki__kubeconfig *kubeconfig, ki_str path, ki_error *error)
{
    const ki_config_options *options = kubeconfig->options;
    const char *label = ki__secrets_copy(&kubeconfig->secrets, path);
    if (label == NULL) {
        return ki__error_code(error, -ENOMEM);
    }
    ki_str text;
    ki__file_info info;
    int r = ki__file_read(label, options->max_file_bytes, &kubeconfig->secrets, &text, &info);
    if (r == -ENOENT && options->path == NULL) {
        return 0;
    }
    if (r < 0) {
        return ki__config_error(error, r, label, 0, ki__file_error_text(r), NULL);
    }
    if (info.others_write && !options->allow_shared_files) {
        return ki__config_error(error, KI_ERR_INVALID, label, 0,
                                "not trusted: the file is writable by everyone", NULL);
    }
    const char *folder;
    r = ki__file_folder(label, &kubeconfig->secrets, &folder);
    if (r < 0) {
        return ki__config_error(error, r, label, 0, "its directory: ", ki_error_text(r), NULL);
    }
    kubeconfig->files[kubeconfig->count].trust = trust_of(&info);
    r = add_text(kubeconfig, label, folder, text, error);
    return r < 0 ? r : 1;
}

static int read_files(ki__kubeconfig *kubeconfig, const path_list *list, ki_error *error)
{
    for (size_t i = 0; i < list->count; i++) {
        int r = add_file(kubeconfig, list->paths[i], error);
        if (r < 0) {
            return r;
        }
    }
    if (list->count != 0 && kubeconfig->count == 0) {
        const char *server =
            kubeconfig->options->server; /* with an explicit server no file is needed */
        bool needed = server == NULL || server[0] == '\0';
        KI__LOG(kubeconfig->options->log, needed ? KI_LOG_WARNING : KI_LOG_INFO, "config",
                "no kubeconfig file found", {"first", list->paths[0]});
    }
    return 0;
}

static int read_memory(ki__kubeconfig *kubeconfig, ki_error *error)
{
    const ki_config_options *options = kubeconfig->options;
    static const char label[] = "kubeconfig";
    if (options->text.len > options->max_file_bytes) {
        return ki__config_error(error, KI_ERR_LIMIT, label, 0, "the text is too large", NULL);
    }
    const char *folder = NULL;
    if (options->text_dir != NULL) {
        if (options->text_dir[0] != '/') {
            return ki__error_set(error, -EINVAL, "option text_dir: must be absolute");
        }
        folder = ki__file_join(options->text_dir, ki_str_make(NULL, 0), &kubeconfig->secrets);
        if (folder == NULL) {
            return ki__error_code(error, -ENOMEM);
        }
    }
    return add_text(kubeconfig, label, folder, options->text, error);
}

int ki__kubeconfig_read(ki__kubeconfig *kubeconfig, const ki_config_options *options,
                        ki_error *error)
{
    *kubeconfig = (ki__kubeconfig){.options = options};
    ki__secrets_init(&kubeconfig->secrets, options->alloc);
    path_list list;
    list.count = 0;
    int r = options->text.ptr == NULL ? find_paths(&list, kubeconfig, error) : 0;
    if (r < 0) {
        return r;
    }
    size_t files = options->text.ptr == NULL ? list.count : 1;
    kubeconfig->files =
        ki__secrets_take_array(&kubeconfig->secrets, files, sizeof(*kubeconfig->files));
    if (kubeconfig->files == NULL) {
        return ki__error_code(error, -ENOMEM);
    }
    return options->text.ptr == NULL ? read_files(kubeconfig, &list, error)
                                     : read_memory(kubeconfig, error);
}

void ki__kubeconfig_done(ki__kubeconfig *kubeconfig)
{
    for (size_t i = 0; i < kubeconfig->count; i++) {
        ki__yaml_done(&kubeconfig->files[i].yaml);
    }
    kubeconfig->count = 0;
    ki__secrets_done(&kubeconfig->secrets);
}
