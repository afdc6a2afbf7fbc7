/* SPDX-License-Identifier: Apache-2.0 */
/* How a store keeps objects in memory.
 *
 *   ki_informer_options options = KI_OPTIONS_INIT(ki_informer_options);
 *   options.storage = KI_STORAGE_PACKED;
 *
 * Packed objects need a tenth of the memory. Their kind, name, namespace, uid, resourceVersion,
 * generation, times, labels and owner references are as in any other object; everything else is
 * compressed, with a dictionary of what the objects of the store have in common. Objects that would
 * not become smaller stay plain. All functions read packed objects. What they cost:
 *
 *   - The metadata above, the key, selectors of labels, and indexes by namespace and by label: no
 *     more than in plain objects.
 *   - The first reading of anything else of an object decompresses it, which takes a few
 *     microseconds, and the object stays decompressed while it is held: by a reference, a snapshot
 *     or a list. So everything that was read is valid as long as in plain objects. A store keeps up
 *     to 64 objects decompressed that were read last, of 1 MiB together, and packs the others with
 *     its next change; an informer also does that when many were read.
 *   - A loop that reads all objects of one snapshot or list thus needs the memory of plain objects
 *     until that is released. With ki_object_unpack() (packed.h) it needs memory for one.
 *   - Handlers, filters, index functions and transform functions receive plain objects, which are
 *     freed after the call, unless the program takes references.
 *
 * Reading can fail: if there is no memory to decompress, functions that return errors return
 * -ENOMEM, and if the memory of the object was overwritten, KI_ERR_DAMAGED. Functions that cannot
 * fail (ki_object_string_or(), ki_pod_phase(), ki_object_bytes() and similar) return their result
 * for absent fields. ki_object_unpack() has an error code, and nothing fails in the object it
 * returns. */
#ifndef KINFORMER_STORAGE_H
#define KINFORMER_STORAGE_H

#include <kinformer/defs.h>

KI_BEGIN_DECLS

typedef enum ki_storage {
    KI_STORAGE_DEFAULT, /* that of the factory, or plain */
    KI_STORAGE_PLAIN,
    KI_STORAGE_PACKED, /* KI_ERR_UNSUPPORTED if the library was built without libzstd */
    KI_STORAGE_MAX
} ki_storage;

KI_END_DECLS

#endif
