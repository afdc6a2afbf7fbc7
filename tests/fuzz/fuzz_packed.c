/* SPDX-License-Identifier: Apache-2.0 */
/* The compressed block of a packed object, damaged. The first byte says how: pairs of a position
 * and bits to change, other bytes in its place, or any bytes at all as a block. The object must be
 * refused as damaged, or be what it was. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <kinformer/encoding.h>
#include <kinformer/packed.h>
#include <kinformer/storage.h>

#include "object/pack/packed.h"

enum { PODS = 300, PLAIN_MAX = 1 << 16 };

static void must(bool condition)
{
    if (!condition) {
        __builtin_trap();
    }
}

static ki_object *make_pod(int number)
{
    char json[2048];
    ki_object *object = NULL;
    int len = snprintf(
        json, sizeof(json),
        "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"web-%d\",\"namespace\":"
        "\"shop\",\"uid\":\"6c1f-%d\",\"resourceVersion\":\"%d\",\"labels\":{\"app\":\"web\"},"
        "\"annotations\":{\"checksum/config\":\"%08x%08x%08x%08x\",\"prometheus.io/scrape\":"
        "\"true\"},\"finalizers\":[\"a.example/b\"]},\"spec\":{\"nodeName\":\"node-%d\","
        "\"containers\":[{\"name\":\"app\",\"image\":\"registry.example/shop/web:1.%d\",\"args\":["
        "\"--listen=0.0.0.0:8080\",\"--log-level=info\"],\"resources\":{\"limits\":{\"cpu\":"
        "\"500m\",\"memory\":\"128Mi\"}}}],\"restartPolicy\":\"Always\"},\"status\":{\"phase\":"
        "\"Running\",\"podIP\":\"10.0.%d.%d\",\"conditions\":[{\"type\":\"Ready\",\"status\":"
        "\"True\"}]}}",
        number, number * 7, number + 1000, (unsigned)number * 2654435761U,
        (unsigned)number * 40503U, (unsigned)number * 69069U, (unsigned)number * 1103515245U,
        number % 20, number % 9, number / 250, number % 250);
    must(ki_object_from_json(json, (size_t)len, NULL, &object, NULL) == 0);
    return object;
}

static ki__packer *packer;
static ki_object *plain[2];
static ki_object *packed[2]; /* without a dictionary, and with one */

static void prepare(void)
{
    must(ki__packer_new(ki_alloc_default(), &packer, NULL) == 0);
    packer->packs_all = true;
    for (int i = 0; i < PODS; i++) {
        ki_object *object = make_pod(i);
        ki_object *made = NULL;
        must(ki__packer_pack(packer, object, &made, NULL) == 0);
        if (i == 0 || i == PODS - 1) {
            plain[i != 0] = object;
            packed[i != 0] = made;
        } else {
            (void)ki_object_unref(made);
            (void)ki_object_unref(object);
        }
    }
    must(ki__packed_of(packed[0])->dictionary->words == NULL);
    must(ki__packed_of(packed[1])->dictionary->words != NULL);
}

static void damage(char *block, size_t len, const uint8_t *data, size_t size)
{
    for (size_t i = 0; i + 2 < size; i += 3) {
        size_t at = data[i] | (size_t)data[i + 1] << 8;
        block[at % len] ^= (char)data[i + 2];
    }
}

/* Reads everything of an object that was accepted. */
static void check(const ki_object *object, const ki_object *expected)
{
    ki_buf json;
    ki_buf_init(&json, NULL, PLAIN_MAX);
    must(ki_object_write_json(object, &json) == 0);
    must(ki_str_eq(ki_object_bytes(object), ki_object_bytes(expected)));
    must(strcmp(ki_object_uid(object), ki_object_uid(expected)) == 0);
    ki_buf_done(&json);
}

static void read_block(ki__packed *header, const ki_object *object, const ki_object *expected)
{
    ki_object *found = NULL;
    int r = ki_object_unpack(object, &found, NULL);
    must(header->plain == NULL && (r == 0 || r == KI_ERR_DAMAGED));
    if (r == 0) {
        check(found, expected);
    }
    (void)ki_object_unref(found);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2 || !ki__codec_is_built()) {
        return 0;
    }
    if (packer == NULL) {
        prepare();
    }
    int which = data[0] & 1;
    ki_object *copy = ki__packed_copy(packed[which]);
    must(copy != NULL);
    ki__packed *header = ki__packed_of(copy);
    char *block = (char *)copy + header->at;
    ki_str rest = ki_str_make((const char *)data + 1, size - 1);
    if ((data[0] & 6) == 0) {
        damage(block, header->len, data + 1, size - 1);
    } else if ((data[0] & 6) == 2) {
        header->len = rest.len < header->len ? (uint32_t)rest.len : header->len;
        memcpy(block, rest.ptr, header->len);
    } else {
        static char out[PLAIN_MAX];
        size_t len = data[0] & 8 ? header->image_len : (size_t)data[1] << 8;
        (void)ki__codec_decompress(packer->codec, header->dictionary->words, rest, out, len);
    }
    read_block(header, copy, plain[which]);
    (void)ki_object_unref(copy);
    return 0;
}
