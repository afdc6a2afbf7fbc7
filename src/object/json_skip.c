/* SPDX-License-Identifier: Apache-2.0 */
#include "object/json_skip.h"

/* `p` is at the opening bracket. In valid text brackets match, so a count is all it takes. */
static const char *skip_container(const char *p)
{
    uint32_t depth = 0;
    do {
        switch (*p) {
        case '{':
        case '[':
            depth++;
            break;
        case '}':
        case ']':
            depth--;
            break;
        case '"':
            p = ki__json_string_end(p + 1);
            break;
        default:
            break;
        }
        p++;
    } while (depth != 0);
    return p;
}

const char *ki__json_skip_value(const char *p)
{
    switch (*p) {
    case '"':
        return ki__json_string_end(p + 1) + 1;
    case '{':
    case '[':
        return skip_container(p);
    default:
        /* Letters, digits, signs and the point are all that numbers and literals are made of; the
         * text is a map, so something else always follows. */
        while ((*p >= '+' && *p <= '9' && *p != ',') || (*p >= 'A' && *p <= 'z' && *p != ']')) {
            p++;
        }
        return p;
    }
}

const char *ki__json_skip_name(const char *p)
{
    p = ki__json_skip_space(ki__json_string_end(p + 1) + 1);
    return ki__json_skip_space(p + 1);
}
