/* SPDX-License-Identifier: Apache-2.0 */
/* Ages as printed by kubectl; the rules are those of HumanDuration() in k8s.io/apimachinery. */
#include <kinformer/parts/columns.h>

#include "base/error.h"
#include "object/edit/json_out.h"

/* A large unit, followed by a small one unless that is 0. */
static int add_two(ki_buf *buf, int64_t seconds, int64_t large, char large_unit, int64_t small,
                   char small_unit)
{
    ki__out out = ki__out_to(buf);
    int64_t rest = small != 0 ? seconds % large / small : 0;
    ki__out_i64(&out, seconds / large);
    ki__out_char(&out, large_unit);
    if (rest != 0) {
        ki__out_i64(&out, rest);
        ki__out_char(&out, small_unit);
    }
    return ki__out_commit(&out);
}

int ki_age_write(int64_t seconds, ki_buf *out)
{
    const int64_t minute = 60;
    const int64_t hour = 60 * minute;
    const int64_t day = 24 * hour;
    const int64_t year = 365 * day;
    KI__REQUIRE(out, NULL);
    if (seconds < 0) {
        return ki_buf_add_text(out, seconds < -1 ? "<invalid>" : "0s");
    }
    if (seconds < 2 * minute) {
        return add_two(out, seconds, 1, 's', 0, '\0');
    }
    if (seconds < 10 * minute) {
        return add_two(out, seconds, minute, 'm', 1, 's');
    }
    if (seconds < 3 * hour) {
        return add_two(out, seconds, minute, 'm', 0, '\0');
    }
    if (seconds < 8 * hour) {
        return add_two(out, seconds, hour, 'h', minute, 'm');
    }
    if (seconds < 2 * day) {
        return add_two(out, seconds, hour, 'h', 0, '\0');
    }
    if (seconds < 8 * day) {
        return add_two(out, seconds, day, 'd', hour, 'h');
    }
    if (seconds < 2 * year) {
        return add_two(out, seconds, day, 'd', 0, '\0');
    }
    return add_two(out, seconds, year, 'y', seconds < 8 * year ? day : 0, 'd');
}
