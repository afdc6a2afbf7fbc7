/* SPDX-License-Identifier: Apache-2.0 */
/* Reads texts from its standard input, each as a decimal length, a newline and the bytes; prints
 * one line for each: "refused", or the value in a form that any language can print the same way.
 * Strings are UTF-16 code units in hexadecimal, integers are decimal, other numbers are the bits of
 * a double, and maps keep all members in their order. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <kinformer/buf.h>
#include <kinformer/encoding.h>
#include <kinformer/object.h>

#include "object/json/json_scan.h"

static void die(const char *message)
{
    fprintf(stderr, "json_canonical: %s\n", message);
    exit(1);
}

static void must(int r)
{
    if (r < 0) {
        die(ki_error_text(r));
    }
}

static void print_string(const ki_value *value, ki_buf *text)
{
    ki_buf_clear(text);
    must(ki_value_copy_string(value, text));
    putchar('"');
    for (size_t i = 0; i < text->len;) {
        unsigned char first = (unsigned char)text->data[i];
        unsigned len = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
        uint32_t point = len == 1 ? first : first & (0xffU >> (len + 1));
        for (unsigned k = 1; k < len; k++) {
            point = point << 6 | ((unsigned char)text->data[i + k] & 0x3fU);
        }
        if (point >= 0x10000) {
            printf("%04x%04x", 0xd800 + ((point - 0x10000) >> 10), 0xdc00 + (point & 0x3ff));
        } else {
            printf("%04x", point);
        }
        i += len;
    }
    putchar('"');
}

static void print_number(const ki_value *value)
{
    int64_t integer;
    double real;
    ki_str text;
    if (ki_value_int64(value, &integer) == 0) {
        printf("%lld", (long long)integer);
    } else if (ki_value_double(value, &real) == 0) {
        uint64_t bits;
        memcpy(&bits, &real, sizeof(bits));
        printf("d%016llx", (unsigned long long)bits);
    } else {
        must(ki_value_number_text(value, &text));
        printf("beyond");
    }
}

static void print_scalar(const ki_value *value, ki_buf *text)
{
    bool flag = false;
    ki_type type = ki_value_type(value);
    if (type == KI_TYPE_STRING) {
        print_string(value, text);
    } else if (type == KI_TYPE_NUMBER) {
        print_number(value);
    } else if (type == KI_TYPE_BOOL) {
        must(ki_value_bool(value, &flag));
        printf(flag ? "t" : "f");
    } else {
        printf("n");
    }
}

static void print_value(ki_value root, ki_buf *text)
{
    static ki_value_iter stack[200];
    size_t depth = 0;
    ki_value value = root;
    for (;;) {
        if (ki_value_iter_begin(&value, &stack[depth]) == 0) {
            printf(ki_value_type(&value) == KI_TYPE_MAP ? "{" : "[");
            depth++;
        } else {
            print_scalar(&value, text);
        }
        ki_value key;
        while (depth != 0 && ki_value_iter_next(&stack[depth - 1], &key, &value) == 0) {
            depth--;
            printf(ki_value_type(&stack[depth].container) == KI_TYPE_MAP ? "}" : "]");
        }
        if (depth == 0) {
            return;
        }
        printf(",");
        if (key.ops != NULL) {
            print_string(&key, text);
        }
    }
}

static void judge(const char *bytes, size_t len)
{
    if (ki__json_check(ki_str_make(bytes, len), 128, NULL) < 0) {
        printf("refused\n");
        return;
    }
    ki_buf text;
    ki_object *object = NULL;
    ki_value value;
    ki_buf_init(&text, NULL, SIZE_MAX);
    must(ki_buf_add_text(&text, "{\"v\":"));
    must(ki_buf_add(&text, bytes, len));
    must(ki_buf_add_text(&text, "}"));
    must(ki_object_from_json(text.data, text.len, KI_OPTIONS(ki_object_options, .max_depth = 129),
                             &object, NULL));
    ki_value root = ki_object_root(object);
    must(ki_value_member(&root, ki_str_from("v"), &value));
    print_value(value, &text);
    printf("\n");
    ki_object_unref(object);
    ki_buf_done(&text);
}

int main(void)
{
    size_t len;
    while (scanf("%zu", &len) == 1) {
        char *bytes = malloc(len != 0 ? len : 1);
        if (bytes == NULL || getchar() != '\n' || fread(bytes, 1, len, stdin) != len) {
            die("bad input");
        }
        judge(bytes, len);
        free(bytes);
    }
    return 0;
}
