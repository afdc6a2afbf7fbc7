/* SPDX-License-Identifier: Apache-2.0 */
/* Formats times in nanoseconds. Every int64 is in the years 1677 to 2262, so the length is
 * fixed. */
#include <string.h>

#include <kinformer/time.h>

#include "base/assert.h"
#include "base/time_units.h"
#include "object/text/text_format.h"

/* Splits a time into seconds and nonnegative nanoseconds. */
static int64_t split(int64_t realtime_ns, int32_t *ret_nanos)
{
    int64_t seconds = realtime_ns / (int64_t)KI__SECOND_NS;
    int32_t nanos = (int32_t)(realtime_ns % (int64_t)KI__SECOND_NS);
    bool before = nanos < 0;
    *ret_nanos = before ? nanos + (int32_t)KI__SECOND_NS : nanos;
    return before ? seconds - 1 : seconds;
}

static const char *terminate(const char *from, size_t len, char *text)
{
    ki_assert(len < KI_TIME_TEXT_SIZE);
    memcpy(text, from, len);
    text[len] = '\0';
    return text;
}

const char *ki_time_text(int64_t realtime_ns, char text[KI_TIME_TEXT_SIZE])
{
    char room[KI__TIME_TEXT_MAX];
    int32_t nanos;
    return terminate(room, ki__format_time(split(realtime_ns, &nanos), room), text);
}

const char *ki_time_micro_text(int64_t realtime_ns, char text[KI_TIME_TEXT_SIZE])
{
    char room[KI__TIME_TEXT_MAX];
    int32_t nanos;
    int64_t seconds = split(realtime_ns, &nanos);
    return terminate(room, ki__format_micro_time(seconds, nanos, room), text);
}
