/* SPDX-License-Identifier: Apache-2.0 */
/* Each byte of the input is a call of a ki_json, followed by its text, which ends with '|'. A text
 * that is given out must be valid JSON; with everything that is open closed, only misuse, invalid
 * input or a limit may keep a text back, and then the error must have a message. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include <kinformer/encoding.h>
#include <kinformer/json.h>
#include <kinformer/time.h>

#include "object/json/json_scan.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { TEXT_MAX = 256, FORMAT_ARGUMENTS = 8 };

static void must(bool condition)
{
    if (!condition) {
        __builtin_trap();
    }
}

typedef struct script {
    const uint8_t *p;
    const uint8_t *end;
    ki_json *json;
    ki_object *pod; /* to copy values from */
    uint32_t open;
} script;

/* The bytes up to '|', which it passes; at most TEXT_MAX. */
static ki_str next_text(script *s, char room[TEXT_MAX + 1])
{
    size_t len = 0;
    while (s->p != s->end && *s->p != '|' && len < TEXT_MAX) {
        room[len++] = (char)*s->p++;
    }
    s->p += s->p != s->end && *s->p == '|';
    room[len] = '\0';
    return ki_str_make(room, len);
}

/* Each conversion becomes the one that the next argument is for, and no more of them stay than
 * there are arguments. */
static void make_safe(const char *format, char *out)
{
    static const char *const conversions[FORMAT_ARGUMENTS] = {"%s",   "%d", "%.*s", "%hhd",
                                                              "%llu", "%g", "%zu",  "%s"};
    size_t used = 0;
    while (*format != '\0') {
        const char *text = "";
        if (*format != '%' || format[1] == '\0') {
            *out++ = *format++;
            continue;
        }
        if (format[1] == '%') {
            text = "%%";
        } else if (used < FORMAT_ARGUMENTS) {
            text = conversions[used++];
        }
        memcpy(out, text, strlen(text));
        out += strlen(text);
        format += 2;
    }
    *out = '\0';
}

#pragma GCC diagnostic ignored "-Wformat-nonliteral"
static void write_format(ki_json *json, const char *name, const char *format, const char *text)
{
    char safe[2 * TEXT_MAX + 4 * FORMAT_ARGUMENTS + 1];
    make_safe(format, safe);
    ki_json_format(json, name, safe, text, -17, (int)strlen(text), text, (int)(text[0] != '\0'),
                   (unsigned long long)UINT64_MAX, text[0] == '!' ? (double)INFINITY : 0.1,
                   (size_t)5, "\"'\\");
}

static double as_double(ki_str text)
{
    double number = 0;
    memcpy(&number, text.ptr, text.len < sizeof(number) ? text.len : sizeof(number));
    return number;
}

static uint64_t as_number(ki_str text)
{
    uint64_t number = 0;
    memcpy(&number, text.ptr, text.len < sizeof(number) ? text.len : sizeof(number));
    return number;
}

static void write_scalar(script *s, uint8_t call, const char *name, ki_str text)
{
    switch (call) {
    case 's':
        ki_json_str(s->json, name, text);
        break;
    case 'c':
        ki_json_string(s->json, name, text.ptr);
        break;
    case 'b':
        ki_json_base64(s->json, name, text);
        break;
    case 'i':
        ki_json_int64(s->json, name, (int64_t)as_number(text));
        break;
    case 'u':
        ki_json_uint64(s->json, name, as_number(text));
        break;
    case 'd':
        ki_json_double(s->json, name, as_double(text));
        break;
    case 'T':
        ki_json_time(s->json, name, (int64_t)as_number(text));
        break;
    case 'M':
        ki_json_micro_time(s->json, name, (int64_t)as_number(text));
        break;
    case 't':
        ki_json_bool(s->json, name, text.len % 2 != 0);
        break;
    default:
        ki_json_null(s->json, name);
    }
}

/* One call; with "=" and a text before it, it has that name. */
static void step(script *s)
{
    char room[TEXT_MAX + 1];
    char name_room[TEXT_MAX + 1];
    uint8_t call = *s->p++;
    const char *name = NULL;
    if (call == '=') {
        name = next_text(s, name_room).ptr;
        if (s->p == s->end) {
            return;
        }
        call = *s->p++;
    }
    ki_value root = ki_object_root(s->pod);
    ki_value none = {0};
    switch (call) {
    case '{':
        ki_json_begin_map(s->json, name);
        s->open++;
        break;
    case '[':
        ki_json_begin_list(s->json, name);
        s->open++;
        break;
    case '}':
    case ']':
        ki_json_end(s->json);
        s->open -= s->open != 0;
        break;
    case 'n':
        ki_json_name(s->json, next_text(s, room));
        break;
    case 'r':
        ki_json_raw(s->json, name, next_text(s, room).ptr);
        break;
    case 'f':
        (void)next_text(s, room);
        write_format(s->json, name, room, name != NULL ? name : "a");
        break;
    case 'v':
        ki_json_value(s->json, name, &root);
        break;
    case '-':
        ki_json_value(s->json, name, &none);
        break;
    case 'o':
        ki_json_owner_reference(s->json, s->pod, true);
        break;
    case '!':
        ki_json_reset(s->json);
        s->open = 0;
        break;
    default:
        write_scalar(s, call, name, next_text(s, room));
    }
}

static void check(ki_json *json)
{
    ki_error error = KI_ERROR_INIT;
    ki_object *object = NULL;
    ki_str text;
    int r = ki_json_text(json, &text, &error);
    if (r < 0) {
        must(error.code == r && error.message[0] != '\0');
        must(ki_json_object(json, &object, NULL) == r);
        return;
    }
    must(text.ptr[text.len] == '\0' && ki__json_check(text, 128, NULL) == 0);
    if (ki_json_object(json, &object, &error) == 0) {
        must(ki_str_eq(ki_object_bytes(object), text));
        ki_object_unref(object);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char pod[] = "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":"
                              "\"p\",\"uid\":\"u\"},\"a\":[[[1, {\"b\\u0063\": null}]]]}";
    ki_json_options options = KI_OPTIONS_INIT(ki_json_options);
    if (size < 2) {
        return 0;
    }
    script s = {.p = data + 2, .end = data + size};
    options.replace_invalid_utf8 = data[0] % 2 != 0;
    options.max_bytes = data[1] < 128 ? 1 << 16 : (size_t)data[1] * 4;
    must(ki_object_from_json(pod, sizeof(pod) - 1, NULL, &s.pod, NULL) == 0);
    must(ki_json_new(&options, &s.json, NULL) == 0);
    while (s.p != s.end) {
        step(&s);
    }
    check(s.json);
    for (; s.open != 0; s.open--) {
        ki_json_end(s.json);
    }
    check(s.json);
    ki_object_unref(s.pod);
    ki_json_unref(s.json);
    return 0;
}
