/* SPDX-License-Identifier: Apache-2.0 */
/* Values of objects by path, for sync_client.c, whose head has the form. Each is read in all ways
 * that a value of its type can be, so that the driver can compare them. */
#include "sync_client_paths.h"

#include <stdio.h>

#include <kinformer/buf.h>
#include <kinformer/path.h>

enum { MAX_TEXT = 16 << 20 };

bool unhex(const char *hex, char *text, size_t size)
{
    size_t len = 0;
    unsigned byte;
    if (hex == NULL) {
        return false;
    }
    for (; hex[0] != '\0' && len + 1 < size; hex += 2) {
        if (hex[1] == '\0' || sscanf(hex, "%2x", &byte) != 1) {
            return false;
        }
        text[len++] = (char)byte;
    }
    text[len] = '\0';
    return hex[0] == '\0';
}

uint32_t checksum(ki_str bytes)
{
    uint32_t crc = UINT32_MAX;
    for (size_t i = 0; i < bytes.len; i++) {
        crc ^= (unsigned char)bytes.ptr[i];
        for (int bit = 0; bit < 8; bit++) {
            crc = (crc >> 1) ^ (0xedb88320u & (0u - (crc & 1)));
        }
    }
    return ~crc;
}

static void print_hex(ki_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        printf("%02x", (unsigned)(unsigned char)text.ptr[i]);
    }
}

static int print_content(const ki_value *value)
{
    ki_buf text;
    ki_buf_init(&text, NULL, MAX_TEXT);
    int64_t number = 0;
    double real = 0;
    bool flag = false;
    int r = 0;
    switch (ki_value_type(value)) {
    case KI_TYPE_STRING:
        r = ki_value_copy_string(value, &text);
        putchar('x'); /* so that an empty one is a word */
        print_hex(ki_buf_str(&text));
        break;
    case KI_TYPE_NUMBER:
        if ((r = ki_value_int64(value, &number)) == 0) {
            printf("%lld", (long long)number);
        } else if ((r = ki_value_double(value, &real)) == 0) {
            printf("%.17g", real);
        }
        break;
    case KI_TYPE_BOOL:
        r = ki_value_bool(value, &flag);
        printf("%d", flag);
        break;
    case KI_TYPE_LIST:
    case KI_TYPE_MAP:
        printf("%zu", ki_value_count(value));
        break;
    case KI_TYPE_NULL:
    case KI_TYPE_NONE:
    case KI_TYPE_MAX:
        printf("0");
        break;
    }
    ki_buf_done(&text);
    return r;
}

static int print_value(size_t count, const ki_value *value)
{
    ki_type type = ki_value_type(value);
    printf("@ %zu %s ", count, ki_type_name(type));
    int r = print_content(value);
    putchar(' ');
    if (r == 0 && type != KI_TYPE_NONE && type != KI_TYPE_LIST && type != KI_TYPE_MAP) {
        ki_buf json;
        ki_buf_init(&json, NULL, MAX_TEXT);
        r = ki_value_write_json(value, &json);
        print_hex(ki_buf_str(&json));
        ki_buf_done(&json);
    }
    putchar('\n');
    return r;
}

/* Walks all values at the path, and also asks for the first: both must be the same. */
static int print_path(const ki_object *object, const ki_path *path)
{
    ki_value root = ki_object_root(object);
    ki_value first = {0};
    ki_value value;
    ki_path_iter *iter = NULL;
    size_t count = 0;
    int more = 0;
    int r = ki_object_get(object, path, &first);
    if (r == KI_ERR_NOT_FOUND) {
        r = 0;
    }
    if (r == 0) {
        r = ki_path_iter_begin(path, &root, &iter);
    }
    while (r == 0 && (more = ki_path_iter_next(iter, &value)) > 0) {
        count++;
    }
    ki_path_iter_end(iter);
    r = r < 0 ? r : more;
    return r < 0 ? r : print_value(count, &first);
}

int tell_path(const ki_object *object, const char *text)
{
    ki_path *path = NULL;
    int r = ki_path_compile(text, NULL, &path, NULL);
    if (r == 0) {
        r = print_path(object, path);
    }
    ki_path_unref(path);
    return r;
}
