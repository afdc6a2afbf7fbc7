/* SPDX-License-Identifier: Apache-2.0 */
/* Comparisons in filters. Numbers compare by value, exactly if both are integers; strings bytewise;
 * booleans and nulls only for equality. For different types, lists and maps, only != is true. */
#include <kinformer/buf.h>

#include "object/path/path.h"

/* Upper bound for the size of objects; decoded strings are never longer than encoded ones. */
#define DECODED_MAX ((size_t)1 << 30)

/* Result of comparing left with right. */
typedef enum order { LESS, EQUAL, GREATER, UNEQUAL } order;

void ki__path_operand_from(const ki_value *value, ki__path_operand *ret_operand)
{
    ki__path_operand operand = {.type = ki_value_type(value)};
    int r = 0;
    switch (operand.type) {
    case KI_TYPE_BOOL:
        r = ki_value_bool(value, &operand.flag);
        break;
    case KI_TYPE_NUMBER:
        operand.integral = ki_value_int64(value, &operand.integer) == 0;
        r = operand.integral ? 0 : ki_value_double(value, &operand.real);
        break;
    case KI_TYPE_STRING:
        if (ki_value_string(value, &operand.text) < 0) {
            operand.encoded = value;
        }
        break;
    default:
        break;
    }
    if (r < 0) {
        operand.type = KI_TYPE_NONE; /* an out-of-range number: compares with nothing */
    }
    *ret_operand = operand;
}

static order order_of(bool less, bool equal)
{
    return less ? LESS : equal ? EQUAL : GREATER;
}

/* Compares an integer with a fraction or a number beyond the range of integers, which could seem
 * equal to the double nearest to the largest integer. */
static order order_mixed(int64_t integer, double real)
{
    return order_of(real >= 0x1p63 || (double)integer < real, false);
}

static order order_numbers(const ki__path_operand *left, const ki__path_operand *right)
{
    if (left->integral && right->integral) {
        return order_of(left->integer < right->integer, left->integer == right->integer);
    }
    if (left->integral) {
        return order_mixed(left->integer, right->real);
    }
    if (right->integral) {
        return order_mixed(right->integer, left->real) == LESS ? GREATER : LESS;
    }
    return order_of(left->real < right->real, !(left->real > right->real));
}

static order order_texts(ki_str left, ki_str right)
{
    int r = ki_str_cmp(left, right);
    return order_of(r < 0, r == 0);
}

/* The text of a string, decoded into `buf` if necessary. */
static int text_of(const ki__path_operand *operand, ki_buf *buf, ki_str *ret_text)
{
    if (operand->encoded == NULL) {
        *ret_text = operand->text;
        return 0;
    }
    int r = ki_value_copy_string(operand->encoded, buf);
    if (r >= 0) {
        *ret_text = ki_buf_str(buf);
    }
    return r;
}

static int order_decoded(const ki__path_operand *left, const ki__path_operand *right,
                         const ki_alloc *alloc, order *ret_order)
{
    ki_buf left_buf;
    ki_buf right_buf;
    ki_str left_text;
    ki_str right_text;
    ki_buf_init(&left_buf, alloc, DECODED_MAX);
    ki_buf_init(&right_buf, alloc, DECODED_MAX);
    int r = text_of(left, &left_buf, &left_text);
    if (r >= 0) {
        r = text_of(right, &right_buf, &right_text);
    }
    if (r >= 0) {
        *ret_order = order_texts(left_text, right_text);
    }
    ki_buf_done(&left_buf);
    ki_buf_done(&right_buf);
    return r;
}

/* Strings with escapes are decoded only if the encoding cannot compare them itself. */
static int order_strings(ki__path_op op, const ki__path_operand *left,
                         const ki__path_operand *right, const ki_alloc *alloc, order *ret_order)
{
    if (left->encoded == NULL && right->encoded == NULL) {
        *ret_order = order_texts(left->text, right->text);
        return 0;
    }
    bool equality = op == KI__PATH_EQ || op == KI__PATH_NE;
    if (equality && right->encoded == NULL) {
        *ret_order = ki_value_equals(left->encoded, right->text) ? EQUAL : UNEQUAL;
        return 0;
    }
    if (equality && left->encoded == NULL) {
        *ret_order = ki_value_equals(right->encoded, left->text) ? EQUAL : UNEQUAL;
        return 0;
    }
    return order_decoded(left, right, alloc, ret_order);
}

static bool holds(ki__path_op op, order found)
{
    switch (op) {
    case KI__PATH_EQ:
        return found == EQUAL;
    case KI__PATH_NE:
        return found != EQUAL;
    case KI__PATH_LT:
        return found == LESS;
    case KI__PATH_LE:
        return found == LESS || found == EQUAL;
    case KI__PATH_GT:
        return found == GREATER;
    case KI__PATH_GE:
        return found == GREATER || found == EQUAL;
    case KI__PATH_EXISTS:
        break;
    }
    return true;
}

int ki__path_compare(ki__path_op op, const ki__path_operand *left, const ki__path_operand *right,
                     const ki_alloc *alloc)
{
    order found = UNEQUAL;
    int r = 0;
    bool ordered = left->type == KI_TYPE_NUMBER || left->type == KI_TYPE_STRING;
    if (left->type == right->type && (ordered || op == KI__PATH_EQ || op == KI__PATH_NE)) {
        switch (left->type) {
        case KI_TYPE_NUMBER:
            found = order_numbers(left, right);
            break;
        case KI_TYPE_STRING:
            r = order_strings(op, left, right, alloc, &found);
            break;
        case KI_TYPE_BOOL:
            found = left->flag == right->flag ? EQUAL : UNEQUAL;
            break;
        case KI_TYPE_NULL:
            found = EQUAL;
            break;
        default:
            break; /* lists and maps are not comparable */
        }
    }
    if (r < 0) {
        return r;
    }
    return holds(op, found);
}
