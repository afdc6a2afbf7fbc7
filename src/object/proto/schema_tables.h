/* SPDX-License-Identifier: Apache-2.0 */
/* What the library asks the schema tables for by name. Written by tools/gen-schema: change that,
 * not this. */
#ifndef KI_OBJECT_PROTO_SCHEMA_TABLES_H
#define KI_OBJECT_PROTO_SCHEMA_TABLES_H

/* Offsets in ki__schema_names. */
enum {
    KI__SCHEMA_NAME_API_VERSION = 3875,
    KI__SCHEMA_NAME_KIND = 9429,
    KI__SCHEMA_NAME_METADATA = 10483,
    KI__SCHEMA_NAME_NAME = 10739,
    KI__SCHEMA_NAME_NAMESPACE = 10762,
    KI__SCHEMA_NAME_UID = 16960,
    KI__SCHEMA_NAME_RESOURCE_VERSION = 14048,
    KI__SCHEMA_NAME_GENERATION = 8364,
    KI__SCHEMA_NAME_CREATION_TIMESTAMP = 6030,
    KI__SCHEMA_NAME_DELETION_TIMESTAMP = 6481,
    KI__SCHEMA_NAME_LABELS = 9531,
    KI__SCHEMA_NAME_ANNOTATIONS = 3826,
    KI__SCHEMA_NAME_OWNER_REFERENCES = 11689,
    KI__SCHEMA_NAME_FINALIZERS = 7961,
};

/* Indexes in ki__schema_messages. */
enum {
    KI__SCHEMA_OBJECT_META = 0,
    KI__SCHEMA_LIST_META = 1,
};

#endif
