/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/token.h"

#include <errno.h>

#include <kinformer/error.h>
#include <kinformer/object.h>

#include "object/edit/json_out.h"
#include "object/text/base64.h"

#define TOKEN_MAX 4096
#define TOKEN_VERSION "kinformer/v1"

int ki__api_token_write(uint64_t rv, ki_str after, ki_buf *out)
{
    ki_buf json;
    ki_buf_init(&json, out->alloc, TOKEN_MAX);
    ki__out text = ki__out_to(&json);
    ki__out_text(&text, "{\"v\":\"" TOKEN_VERSION "\",\"rv\":");
    ki__put_u64(&text, rv);
    ki__put_member_str(&text, "after", after);
    ki__out_char(&text, '}');
    int r = text.error < 0 ? text.error : ki__base64url_encode(ki_buf_str(&json), out);
    ki_buf_done(&json);
    return r;
}

static int read_members(const ki_object *object, ki__api_token *ret_token)
{
    ki_value root = ki_object_root(object);
    ki_value version;
    ki_value rv;
    ki_value after;
    int64_t number;
    if (ki_value_member(&root, ki_str_from("v"), &version) < 0 ||
        !ki_value_equals(&version, ki_str_from(TOKEN_VERSION)) ||
        ki_value_member(&root, ki_str_from("rv"), &rv) < 0 || ki_value_int64(&rv, &number) < 0 ||
        number < 0 || ki_value_member(&root, ki_str_from("after"), &after) < 0) {
        return KI_ERR_INVALID;
    }
    int len = ki_value_get_string(&after, ret_token->after, sizeof(ret_token->after));
    if (len < 0) {
        return len == KI_ERR_TYPE ? KI_ERR_INVALID : len;
    }
    ret_token->rv = (uint64_t)number;
    ret_token->len = (size_t)len;
    return 0;
}

int ki__api_token_read(ki_str text, const ki_alloc *alloc, ki__api_token *ret_token)
{
    ki_buf json;
    ki_object *object = NULL;
    ki_object_options options = {.size = sizeof(options), .alloc = alloc, .max_bytes = TOKEN_MAX};
    ki_buf_init(&json, alloc, TOKEN_MAX);
    int r = ki__base64url_decode(text, &json);
    r = r == 0 && json.len == 0 ? KI_ERR_SYNTAX : r;
    if (r == 0) {
        r = ki_object_from_json(json.data, json.len, &options, &object, NULL);
    }
    if (r == 0) {
        r = read_members(object, ret_token);
    }
    if (r < 0 && r != -ENOMEM && r != KI_ERR_LIMIT) {
        r = r == KI_ERR_INVALID ? r : KI_ERR_SYNTAX;
    }
    ki_object_unref(object);
    ki_buf_done(&json);
    return r;
}
