/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of JSON that several documents have. */
#ifndef KI_MONITOR_SERVER_MONITOR_JSON_H
#define KI_MONITOR_SERVER_MONITOR_JSON_H

#include <kinformer/object.h>

#include "monitor_server/monitor_server.h"
#include "object/edit/json_out.h"

void ki__put_named_u64(ki__out *out, const char *name, uint64_t number);
void ki__put_named_bool(ki__out *out, const char *name, bool flag);
void ki__put_named_time(ki__out *out, const char *name, int64_t seconds);
/** A member with a duration; null if it is UINT64_MAX. */
void ki__put_named_ms(ki__out *out, const char *name, uint64_t ms);

/** A member with text of any length, of which at most `max` bytes are kept, and a note about the
 *  rest. */
void ki__put_named_text(ki__out *out, const char *name, ki_str text, size_t max);

/** The name of an informer in paths: as ki_informer_name(), with a number if others before it have
 *  the same: "pods~2". */
void ki__put_path_name(ki__out *out, const ki__gathered *g, size_t at);
/** The number of the informer with that name, or SIZE_MAX. */
size_t ki__find_path_name(const ki__gathered *g, ki_str name);

/** "changes": the recorded changes, newest first, that contain `filter`; only those of an opened
 *  object since then, unless that is NULL. */
void ki__put_changes(ki__out *out, ki_monitor_server *server, ki_str filter,
                     const ki__opened_object *opened);

/** "fields": the differences of two objects; `values` says whether to include the values. */
void ki__put_fields(ki__out *out, const ki_object *before, const ki_object *after, bool values);

#endif
