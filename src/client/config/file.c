/* SPDX-License-Identifier: Apache-2.0 */
#include "client/config/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FIRST_BYTES = 4096 };

/* Opens a regular file of at most `max` bytes; returns its descriptor and size. Opened nonblocking,
 * to avoid waiting for the writer of a FIFO; no effect on regular files. */
static int open_regular(const char *path, size_t max, size_t *ret_size, ki__file_info *ret_info)
{
    int fd;
    do {
        fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    } while (fd < 0 && errno == EINTR);
    if (fd < 0) {
        return -errno;
    }
    struct stat info;
    int r = 0;
    if (fstat(fd, &info) < 0) {
        r = -errno;
    } else if (!S_ISREG(info.st_mode)) {
        r = S_ISDIR(info.st_mode) ? -EISDIR : KI_ERR_INVALID;
    } else if (info.st_size < 0 || (uintmax_t)info.st_size > max) {
        r = KI_ERR_LIMIT;
    }
    if (r < 0) {
        (void)close(fd); /* opened for reading only */
        return r;
    }
    *ret_size = (size_t)info.st_size;
    ret_info->others_read = (info.st_mode & S_IROTH) != 0;
    ret_info->others_write = (info.st_mode & S_IWOTH) != 0;
    ret_info->group_write = (info.st_mode & S_IWGRP) != 0; /* with an ACL: the mask */
    ret_info->foreign = info.st_uid != 0 && info.st_uid != geteuid();
    return fd;
}

/* Reads up to end of file or `cap` bytes. */
static int read_some(int fd, char *bytes, size_t cap, size_t *len)
{
    while (*len < cap) {
        ssize_t n = read(fd, bytes + *len, cap - *len);
        if (n == 0) {
            break;
        }
        if (n < 0 && errno != EINTR) {
            return -errno;
        }
        *len += n > 0 ? (size_t)n : 0;
    }
    return 0;
}

/* The file may have grown; a block that was too small stays in `secrets` until that is released. */
static int read_all(int fd, size_t size, size_t max, ki__secrets *secrets, ki_str *ret_text)
{
    size_t cap = size < FIRST_BYTES ? FIRST_BYTES : size + 1;
    char *bytes = NULL;
    size_t len = 0;
    for (;;) {
        char *larger = ki__secrets_take(secrets, cap + 1);
        if (larger == NULL) {
            return -ENOMEM;
        }
        if (len != 0) {
            memcpy(larger, bytes, len);
        }
        bytes = larger;
        int r = read_some(fd, bytes, cap, &len);
        if (r < 0) {
            return r;
        }
        if (len > max) {
            return KI_ERR_LIMIT;
        }
        if (len < cap) {
            bytes[len] = '\0';
            *ret_text = ki_str_make(bytes, len);
            return 0;
        }
        cap = cap > max / 2 ? max + 1 : cap * 2;
    }
}

int ki__file_read(const char *path, size_t max, ki__secrets *secrets, ki_str *ret_text,
                  ki__file_info *ret_info)
{
    size_t size;
    int fd = open_regular(path, max, &size, ret_info);
    if (fd < 0) {
        return fd;
    }
    int r = read_all(fd, size, max, secrets, ret_text);
    (void)close(fd);
    return r;
}

int ki__file_check(const char *path, size_t max, ki__file_info *ret_info)
{
    size_t size;
    int fd = open_regular(path, max, &size, ret_info);
    if (fd < 0) {
        return fd;
    }
    (void)close(fd);
    return 0;
}

const char *ki__file_error_text(int code)
{
    switch (code) {
    case KI_ERR_INVALID:
        return "not a regular file";
    case KI_ERR_LIMIT:
        return "the file is too large";
    default:
        return ki_error_text(code);
    }
}

/* Appends the segments of `path` to the clean absolute path in `out`, which has `*len` bytes; the
 * root has length 0 here. */
static void add_segments(ki_str path, char *out, size_t *len)
{
    size_t at = 0;
    while (at < path.len) {
        size_t end = at;
        while (end < path.len && path.ptr[end] != '/') {
            end++;
        }
        ki_str segment = ki_str_make(path.ptr + at, end - at);
        if (ki_str_eq_text(segment, "..")) {
            while (*len != 0 && out[--*len] != '/') {
            }
        } else if (segment.len != 0 && !ki_str_eq_text(segment, ".")) {
            out[(*len)++] = '/';
            memcpy(out + *len, segment.ptr, segment.len);
            *len += segment.len;
        }
        at = end + 1;
    }
}

char *ki__file_join(const char *folder, ki_str path, ki__secrets *secrets)
{
    ki_str base = ki_str_from(folder);
    char *out = ki__secrets_take(secrets, base.len + path.len + 3);
    if (out == NULL) {
        return NULL;
    }
    size_t len = 0;
    add_segments(base, out, &len);
    add_segments(path, out, &len);
    if (len == 0) {
        out[len++] = '/';
    }
    out[len] = '\0';
    return out;
}

int ki__file_folder(const char *path, ki__secrets *secrets, const char **ret_folder)
{
    const char *working = "/";
    if (path[0] != '/') {
        char *here = ki__secrets_take(secrets, PATH_MAX);
        if (here == NULL) {
            return -ENOMEM;
        }
        if (getcwd(here, PATH_MAX) == NULL) {
            return -errno;
        }
        working = here;
    }
    const char *last = strrchr(path, '/');
    char *folder = ki__file_join(
        working, ki_str_make(path, last != NULL ? (size_t)(last - path) : 0), secrets);
    if (folder == NULL) {
        return -ENOMEM;
    }
    *ret_folder = folder;
    return 0;
}
