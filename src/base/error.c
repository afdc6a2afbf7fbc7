/* SPDX-License-Identifier: Apache-2.0 */
/* Error codes and their texts, from the table in <kinformer/error.h> and the errno table below.
 * Invariant: a filled ki_error has a NUL-terminated message that is never truncated inside a UTF-8
 * sequence and ends in "..." if it was truncated. */
#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "base/first_sizes.h"
#include "base/utf8.h"

/* The errnos of files, sockets, processes and threads, with texts of our own: those of the C
 * library differ between systems, and only glibc provides the names.
 * X(name, whether a retry may help, text) */
#define ERRNO_MAP(X)                                              \
    X(E2BIG, false, "the argument is too large, or too new")      \
    X(EACCES, false, "permission denied")                         \
    X(EADDRINUSE, false, "the address is in use")                 \
    X(EADDRNOTAVAIL, true, "the address is not available")        \
    X(EAFNOSUPPORT, false, "the address family is not supported") \
    X(EAGAIN, true, "not ready yet, try again")                   \
    X(EALREADY, false, "already in progress")                     \
    X(EBADF, false, "invalid file descriptor")                    \
    X(EBADMSG, false, "malformed message")                        \
    X(EBUSY, true, "resource busy")                               \
    X(ECANCELED, false, "cancelled")                              \
    X(ECHILD, false, "no such child process")                     \
    X(ECONNABORTED, true, "connection aborted")                   \
    X(ECONNREFUSED, true, "connection refused")                   \
    X(ECONNRESET, true, "connection reset by the peer")           \
    X(EDEADLK, false, "deadlock")                                 \
    X(EDOM, false, "argument outside the defined range")          \
    X(EDQUOT, false, "disk quota exceeded")                       \
    X(EEXIST, false, "the file exists already")                   \
    X(EFAULT, false, "invalid memory address")                    \
    X(EFBIG, false, "the file is too large")                      \
    X(EHOSTDOWN, true, "the host is down")                        \
    X(EHOSTUNREACH, true, "the host cannot be reached")           \
    X(EILSEQ, false, "invalid character sequence")                \
    X(EINPROGRESS, false, "operation now in progress")            \
    X(EINTR, true, "interrupted by a signal")                     \
    X(EINVAL, false, "invalid argument")                          \
    X(EIO, false, "input or output error")                        \
    X(EISCONN, false, "already connected")                        \
    X(EISDIR, false, "is a directory")                            \
    X(ELOOP, false, "too many symbolic links")                    \
    X(EMFILE, true, "too many open files in this process")        \
    X(EMSGSIZE, false, "the message is too long")                 \
    X(ENAMETOOLONG, false, "the file name is too long")           \
    X(ENETDOWN, true, "the network is down")                      \
    X(ENETRESET, true, "connection dropped by the network")       \
    X(ENETUNREACH, true, "the network cannot be reached")         \
    X(ENFILE, true, "too many open files in the system")          \
    X(ENOBUFS, true, "no buffer space")                           \
    X(ENODATA, false, "no data")                                  \
    X(ENODEV, false, "no such device")                            \
    X(ENOENT, false, "no such file or directory")                 \
    X(ENOEXEC, false, "not an executable file")                   \
    X(ENOMEM, true, "out of memory")                              \
    X(ENOSPC, false, "no space left on the device")               \
    X(ENOSYS, false, "system call not available")                 \
    X(ENOTCONN, false, "not connected")                           \
    X(ENOTDIR, false, "not a directory")                          \
    X(ENOTEMPTY, false, "the directory is not empty")             \
    X(ENOTSOCK, false, "not a socket")                            \
    X(ENOTTY, false, "wrong type of device")                      \
    X(ENXIO, false, "no such device or address")                  \
    X(EOPNOTSUPP, false, "the operation is not supported")        \
    X(EOVERFLOW, false, "the value is too large for its type")    \
    X(EPERM, false, "the operation is not permitted")             \
    X(EPIPE, true, "broken pipe")                                 \
    X(EPROTO, false, "protocol error")                            \
    X(EPROTONOSUPPORT, false, "the protocol is not supported")    \
    X(ERANGE, false, "the result is out of range")                \
    X(EROFS, false, "the file system is read-only")               \
    X(ESPIPE, false, "the file is not seekable")                  \
    X(ESRCH, false, "no such process")                            \
    X(ESTALE, false, "stale file handle")                         \
    X(ETIMEDOUT, true, "timed out")                               \
    X(ETXTBSY, false, "the executable file is being written")     \
    X(EXDEV, false, "not on the same file system")

const char *ki_error_name(int code)
{
    switch (code) {
    case 0:
        return "ok";
#define ERROR_NAME(name, value, text) \
    case value:                       \
        return "KI_ERR_" #name;
        KI_ERROR_MAP(ERROR_NAME)
#undef ERROR_NAME
#define ERRNO_NAME(name, retriable, text) \
    case -name:                           \
        return #name;
        ERRNO_MAP(ERRNO_NAME)
#undef ERRNO_NAME
    default:
        return "unknown";
    }
}

const char *ki_error_text(int code)
{
    switch (code) {
    case 0:
        return "success";
#define ERROR_TEXT(name, value, text) \
    case value:                       \
        return text;
        KI_ERROR_MAP(ERROR_TEXT)
#undef ERROR_TEXT
#define ERRNO_TEXT(name, retriable, text) \
    case -name:                           \
        return text;
        ERRNO_MAP(ERRNO_TEXT)
#undef ERRNO_TEXT
    default:
        return code < 0 && code > -4096 ? "unknown system error" : "unknown error";
    }
}

bool ki_error_is_retriable(int code)
{
    switch (code) {
    case KI_ERR_BUSY:
    case KI_ERR_TRUNCATED:
        return true;
#define ERRNO_RETRIABLE(name, retriable, text) \
    case -name:                                \
        return retriable;
        ERRNO_MAP(ERRNO_RETRIABLE)
#undef ERRNO_RETRIABLE
    default:
        return false;
    }
}

/* The length to keep of a message truncated after `len` bytes, so that it does not end inside a
 * UTF-8 sequence. Invalid UTF-8 is kept. */
static size_t whole_characters(const char *message, size_t len)
{
    size_t start = len;
    while (start > 0 && len - start < 3 && ((unsigned char)message[start - 1] & 0xc0) == 0x80) {
        start--;
    }
    if (start == 0) {
        return len;
    }
    unsigned char lead = (unsigned char)message[start - 1];
    size_t follow = lead >= 0xf0 ? 3 : lead >= 0xe0 ? 2 : lead >= 0xc0 ? 1 : 0;
    return len - start < follow ? start - 1 : len;
}

enum { ROOM = KI_ERROR_MESSAGE_SIZE - 1, MARK_LEN = 3 }; /* message capacity, without the NUL */
static const char cut_mark[] = "...";

/* Marks a message of `len` bytes as truncated. */
static void mark_cut(char *message, size_t len)
{
    size_t most = ROOM - MARK_LEN;
    memcpy(message + whole_characters(message, len < most ? len : most), cut_mark,
           sizeof(cut_mark));
}

/* The mark is at the very end, up to 3 bytes earlier if a character was dropped. */
static bool is_cut(const char *message, size_t len)
{
    return len >= ROOM - 3 && memcmp(message + len - MARK_LEN, cut_mark, MARK_LEN) == 0;
}

/* Formats into a local buffer first: the arguments may include the error's own message. */
KI_PRINTF(3, 0)
static void error_vset(ki_error *error, int code, const char *format, va_list args)
{
    char message[sizeof(error->message)];
    int len = vsnprintf(message, sizeof(message), format, args);
    if (len < 0) {
        /* More than INT_MAX bytes: vsnprintf fails instead of truncating. */
        (void)snprintf(message, sizeof(message), "%s", ki_error_text(code));
    } else if ((size_t)len >= sizeof(message)) {
        mark_cut(message, ROOM);
    }
    ki__error_clear(error);
    error->code = code;
    memcpy(error->message, message, strlen(message) + 1);
}

int ki__error_set(ki_error *error, int code, const char *format, ...)
{
    ki_assert(code < 0);
    if (error == NULL) {
        return code;
    }
    va_list args;
    va_start(args, format);
    error_vset(error, code, format, args);
    va_end(args);
    return code;
}

/* The size of an error that both sides know; at least that of the 0.1 struct. */
static size_t known_size(const ki_error *error)
{
    size_t size = error->size < sizeof(*error) ? error->size : sizeof(*error);
    return size > KI__FIRST_SIZE(ki_error) ? size : KI__FIRST_SIZE(ki_error);
}

/* Copies the members after the message. */
static void copy_tail(ki_error *to, const void *from, size_t from_size)
{
    size_t first = KI__FIRST_SIZE(ki_error);
    size_t to_size = known_size(to);
    size_t common = from_size < to_size ? from_size : to_size;
    if (common > first) {
        memcpy((char *)to + first, (const char *)from + first, common - first);
    }
    memset((char *)to + common, 0, to_size - common);
}

void ki__error_clear(ki_error *error)
{
    size_t size = error->size;
    memset(error, 0, offsetof(ki_error, message) + 1);
    error->size = size;
    copy_tail(error, NULL, KI__FIRST_SIZE(ki_error));
}

void ki__error_copy(ki_error *to, const ki_error *from)
{
    if (to == NULL || to == from) {
        return;
    }
    size_t head = sizeof(to->size);
    memcpy((char *)to + head, (const char *)from + head, offsetof(ki_error, message) - head);
    size_t len = strnlen(from->message, ROOM);
    memcpy(to->message, from->message, len);
    to->message[len] = '\0';
    copy_tail(to, from, known_size(from));
}

static uint32_t clamp_u32(size_t n)
{
    return n < UINT32_MAX ? (uint32_t)n : UINT32_MAX;
}

/* Sets line and column. An offset beyond the end of the text means its end. */
static void locate(ki_error *error, ki_str text, size_t offset)
{
    size_t end = offset < text.len ? offset : text.len;
    size_t line_start = 0;
    size_t line = 1;
    for (size_t i = 0; i < end; i++) {
        if (text.ptr[i] == '\n') {
            line_start = i + 1;
            line++;
        }
    }
    error->offset = end;
    error->line = clamp_u32(line);
    error->column = clamp_u32(end - line_start + 1);
}

int ki__error_at(ki_error *error, int code, ki_str text, size_t offset, const char *format, ...)
{
    ki_assert(code < 0);
    if (error == NULL) {
        return code;
    }
    va_list args;
    va_start(args, format);
    error_vset(error, code, format, args);
    va_end(args);
    locate(error, text, offset);
    return code;
}

int ki__error_null(ki_error *error, const char *argument)
{
    return ki__error_set(error, -EINVAL, "%s: must not be NULL", argument);
}

int ki__error_code(ki_error *error, int code)
{
    return ki__error_set(error, code, "%s", ki_error_text(code));
}

/* Replacement for the character of `len` bytes at `p`; NUL if it may stay. */
static char replacement(const char *p, size_t len)
{
    unsigned char first = (unsigned char)p[0];
    if (len == 0) {
        return '?';
    }
    if (first == '\t' || first == '\n' || first == '\r') {
        return ' ';
    }
    bool high_control = first == 0xc2 && (unsigned char)p[1] < 0xa0; /* U+0080 to U+009F */
    return first < 0x20 || first == 0x7f || high_control ? '?' : '\0';
}

void ki__error_add(ki_error *error, ki_str text)
{
    if (error == NULL) {
        return;
    }
    size_t len = strnlen(error->message, ROOM);
    if (is_cut(error->message, len)) {
        return;
    }
    char *out = error->message + len;
    const char *end = error->message + ROOM;
    while (text.len != 0) {
        size_t taken = ki__utf8_length(text);
        char other = replacement(text.ptr, taken);
        const char *from = other != '\0' ? &other : text.ptr;
        size_t size = other != '\0' ? 1 : taken;
        if ((size_t)(end - out) < size) {
            mark_cut(error->message, (size_t)(out - error->message));
            return;
        }
        memcpy(out, from, size);
        out += size;
        taken = taken != 0 ? taken : 1;
        text = ki_str_make(text.ptr + taken, text.len - taken);
    }
    *out = '\0';
}
