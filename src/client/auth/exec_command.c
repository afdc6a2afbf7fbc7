/* SPDX-License-Identifier: Apache-2.0 */
/* Commands of plugins. An untrusted kubeconfig may name any program, so nothing is run unless the
 * program allowed it, or if other users of this machine could have replaced it, or if it depends on
 * the working directory. */
#include "client/auth/exec_command.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"

extern char **environ;

enum { VARIABLES_MAX = 1 << 16, VARIABLES_BYTES = 8 << 20, LINKS_MAX = 40 };
static const char INFO[] = "KUBERNETES_EXEC_INFO";

static int fail(ki_error *error, int code, const char *text, const char *path)
{
    (void)ki__error_set(error, code, "%s: ", text);
    ki__error_add(error, ki_str_from(path));
    return code;
}

/* ---- lookup ---- */

static bool is_program(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISREG(info.st_mode) && access(path, X_OK) == 0;
}

/* Searches $PATH; the result is in `secrets`, or NULL. Relative entries are ignored. */
static int find(const char *name, ki__secrets *secrets, const char **ret_path)
{
    const char *entry = getenv("PATH");
    size_t name_len = strlen(name);
    *ret_path = NULL;
    while (entry != NULL && *ret_path == NULL) {
        const char *end = strchr(entry, ':');
        size_t len = end != NULL ? (size_t)(end - entry) : strlen(entry);
        if (entry[0] == '/' && len + name_len + 2 <= PATH_MAX) {
            char *path = ki__secrets_take(secrets, len + name_len + 2);
            if (path == NULL) {
                return -ENOMEM;
            }
            memcpy(path, entry, len);
            path[len] = '/';
            memcpy(path + len + 1, name, name_len);
            *ret_path = is_program(path) ? path : NULL;
        }
        entry = end != NULL ? end + 1 : NULL;
    }
    return 0;
}

static int not_found(const ki_config_exec *exec, ki_error *error)
{
    (void)fail(error, -ENOENT, "exec plugin not found in $PATH", exec->command);
    if (exec->install_hint[0] != '\0') {
        ki__error_add(error, ki_str_from("; "));
        ki__error_add(error, ki_str_from(exec->install_hint));
    }
    return -ENOENT;
}

static int resolve(ki__exec_command *command, const ki_config_exec *exec, ki_error *error)
{
    if (strchr(exec->command, '/') != NULL) {
        if (exec->command[0] != '/') {
            return fail(error, KI_ERR_INVALID, "exec plugin: path is not absolute", exec->command);
        }
        command->path = ki__secrets_copy(&command->secrets, ki_str_from(exec->command));
        return command->path != NULL ? 0 : ki__error_code(error, -ENOMEM);
    }
    int r = find(exec->command, &command->secrets, &command->path);
    if (r < 0) {
        return ki__error_code(error, r);
    }
    return command->path != NULL ? 0 : not_found(exec, error);
}

/* ---- permission ---- */

static int is_allowed(const ki__exec_command *command, const char *const *allowed,
                      bool *ret_allowed, ki_error *error)
{
    ki__secrets secrets; /* for intermediate strings */
    int r = 0;
    ki__secrets_init(&secrets, command->secrets.alloc);
    *ret_allowed = false;
    for (; r == 0 && !*ret_allowed && allowed != NULL && *allowed != NULL; allowed++) {
        const char *path = *allowed;
        if (strchr(path, '/') == NULL) {
            r = find(*allowed, &secrets, &path);
        } else if (path[0] != '/') {
            r = -EINVAL;
        }
        *ret_allowed = r == 0 && path != NULL && strcmp(path, command->path) == 0;
    }
    ki__secrets_done(&secrets);
    return r == -EINVAL ? ki__error_set(error, r,
                                        "exec_allowed: must be absolute paths or names without '/'")
           : r < 0      ? ki__error_code(error, r)
                        : 0;
}

static int check_policy(const ki__exec_command *command, const ki_client_options *options,
                        ki_error *error)
{
    bool allowed = options->exec_policy == KI_EXEC_ALLOW;
    if (options->exec_policy == KI_EXEC_LISTED) {
        int r = is_allowed(command, options->exec_allowed, &allowed, error);
        if (r < 0) {
            return r;
        }
        return allowed ? 0
                       : fail(error, KI_ERR_DENIED,
                              "exec plugin of the configuration is not listed in exec_allowed",
                              command->path);
    }
    return allowed ? 0 : ki__error_set(error, -EINVAL, "exec_policy: unknown value");
}

/* Whether another user could replace the program: by write access to its directory, even if sticky
 * like /tmp; or to a directory further up, where the sticky bit is sufficient protection. `scratch`
 * is large enough. */
static bool is_in_shared_folder(const char *path, char *scratch)
{
    struct stat info;
    mode_t sticky = 0;
    memcpy(scratch, path, strlen(path) + 1);
    for (char *last = strrchr(scratch, '/'); last != NULL; last = strrchr(scratch, '/')) {
        bool root = last == scratch;
        last[root ? 1 : 0] = '\0';
        if (stat(scratch, &info) < 0 ||
            ((info.st_mode & S_IWOTH) != 0 && (info.st_mode & sticky) == 0)) {
            return true;
        }
        if (root) {
            break;
        }
        sticky = S_ISVTX;
    }
    return false;
}

/* Replaces the path by the target of a symbolic link. Whether it is one. */
static bool follow(char *path, char *scratch)
{
    ssize_t len = readlink(path, scratch, PATH_MAX);
    size_t keep = len > 0 && scratch[0] != '/' ? (size_t)(strrchr(path, '/') - path) + 1 : 0;
    if (len <= 0 || keep + (size_t)len >= PATH_MAX) {
        return false;
    }
    memcpy(path + keep, scratch, (size_t)len);
    path[keep + (size_t)len] = '\0';
    return true;
}

/* Checks the given path, each symbolic link, and the final path. */
static bool is_unsafe(const char *path, char *at, char *scratch)
{
    struct stat info;
    size_t len = strlen(path);
    if (len >= PATH_MAX || stat(path, &info) < 0 || (info.st_mode & S_IWOTH) != 0) {
        return true;
    }
    memcpy(at, path, len + 1);
    size_t links = 0;
    do {
        if (is_in_shared_folder(at, scratch)) {
            return true;
        }
    } while (links++ < LINKS_MAX && follow(at, scratch));
    return realpath(path, at) == NULL || is_in_shared_folder(at, scratch);
}

static int check_place(const ki__exec_command *command, ki_error *error)
{
    ki__secrets memory; /* two paths are too large for the stack */
    ki__secrets_init(&memory, command->secrets.alloc);
    char *at = ki__secrets_take(&memory, PATH_MAX);
    char *scratch = ki__secrets_take(&memory, PATH_MAX);
    int r = 0;
    if (at == NULL || scratch == NULL) {
        r = ki__error_code(error, -ENOMEM);
    } else if (is_unsafe(command->path, at, scratch)) {
        r = fail(error, KI_ERR_DENIED,
                 "exec plugin not run: it or one of its directories is writable by others",
                 command->path);
    }
    ki__secrets_done(&memory);
    return r;
}

int ki__exec_command_check(const ki__exec_command *command, ki_error *error)
{
    struct stat info;
    if (stat(command->path, &info) < 0) {
        int r = -errno;
        return fail(error, r, r == -ENOENT ? "exec plugin not found" : ki_error_text(r),
                    command->path);
    }
    if (!S_ISREG(info.st_mode) || access(command->path, X_OK) < 0) {
        return fail(error, -EACCES, "exec plugin is not an executable file", command->path);
    }
    return check_place(command, error);
}

/* ---- arguments and environment ---- */

static int copy_arguments(ki__exec_command *command, const ki_config_exec *exec)
{
    char **argv = ki__secrets_take_array(&command->secrets, exec->arg_count + 2, sizeof(*argv));
    if (argv == NULL) {
        return -ENOMEM;
    }
    command->argv = argv;
    argv[0] = ki__secrets_copy(&command->secrets, ki_str_from(exec->command));
    bool good = argv[0] != NULL;
    for (size_t i = 0; good && i < exec->arg_count; i++) {
        argv[i + 1] = ki__secrets_copy(&command->secrets, ki_str_from(exec->args[i]));
        good = argv[i + 1] != NULL;
    }
    return good ? 0 : -ENOMEM;
}

static size_t name_length(const char *variable)
{
    const char *sign = strchr(variable, '=');
    return sign != NULL ? (size_t)(sign - variable) : strlen(variable);
}

/* Whether one of the first `count` variables, including the slot for KUBERNETES_EXEC_INFO, has this
 * name. */
static bool has_variable(const ki__exec_command *command, size_t count, const char *name,
                         size_t len)
{
    bool found = len == sizeof(INFO) - 1 && memcmp(name, INFO, len) == 0;
    for (size_t i = 0; !found && i < count; i++) {
        const char *other = command->environment[i];
        found = i != command->info && name_length(other) == len && memcmp(other, name, len) == 0;
    }
    return found;
}

static char *join(ki__secrets *secrets, const ki_config_variable *variable)
{
    size_t len = strlen(variable->name);
    char *text = ki__secrets_take(secrets, len + variable->value.len + 2);
    if (text != NULL) {
        memcpy(text, variable->name, len);
        text[len] = '=';
        if (variable->value.len != 0) {
            memcpy(text + len + 1, variable->value.ptr, variable->value.len);
        }
    }
    return text;
}

/* The last configured value of a name takes precedence; then the environment of the process. */
static int copy_variables(ki__exec_command *command, const ki_config_exec *exec, size_t count)
{
    char **list = command->environment;
    size_t n = 0;
    size_t bytes = 0;
    command->info = n++;
    for (size_t i = exec->variable_count; i-- != 0;) {
        const ki_config_variable *variable = &exec->variables[i];
        if (has_variable(command, n, variable->name, strlen(variable->name))) {
            continue;
        }
        list[n] = join(&command->secrets, variable);
        if (list[n++] == NULL) {
            return -ENOMEM;
        }
    }
    size_t configured = n; /* duplicates in the process environment are kept */
    for (size_t i = 0; i < count; i++) {
        if (has_variable(command, configured, environ[i], name_length(environ[i]))) {
            continue;
        }
        bytes += strlen(environ[i]);
        list[n] = ki__secrets_copy(&command->secrets, ki_str_from(environ[i]));
        if (list[n++] == NULL || bytes > VARIABLES_BYTES) {
            return bytes > VARIABLES_BYTES ? KI_ERR_LIMIT : -ENOMEM;
        }
    }
    return 0;
}

static int copy_environment(ki__exec_command *command, const ki_config_exec *exec)
{
    size_t count = 0;
    while (environ != NULL && environ[count] != NULL) {
        if (count++ == VARIABLES_MAX) {
            return KI_ERR_LIMIT;
        }
    }
    command->environment = ki__secrets_take_array(
        &command->secrets, count + exec->variable_count + 2, sizeof(*command->environment));
    return command->environment != NULL ? copy_variables(command, exec, count) : -ENOMEM;
}

/* ---- creation ---- */

int ki__exec_command_init(ki__exec_command *command, const ki_alloc *alloc,
                          const ki_config_exec *exec, const ki_client_options *options,
                          ki_error *error)
{
    *command = (ki__exec_command){0};
    ki__secrets_init(&command->secrets, alloc);
    if (options->exec_policy == KI_EXEC_DENY) {
        return fail(error, KI_ERR_DENIED,
                    "exec plugin denied by exec_policy; set KI_EXEC_ALLOW, or KI_EXEC_LISTED and "
                    "exec_allowed",
                    exec->command);
    }
    int r = resolve(command, exec, error);
    if (r == 0) {
        r = check_policy(command, options, error);
    }
    if (r == 0) {
        r = ki__exec_command_check(command, error);
    }
    if (r < 0) {
        return r;
    }
    r = copy_arguments(command, exec);
    if (r == 0) {
        r = copy_environment(command, exec);
    }
    return r < 0 ? ki__error_set(error, r, "exec plugin arguments: %s", ki_error_text(r)) : 0;
}

void ki__exec_command_done(ki__exec_command *command)
{
    ki__secrets_done(&command->secrets);
    *command = (ki__exec_command){0};
}
