/* SPDX-License-Identifier: Apache-2.0 */
/* Functions and tables used by all libraries: libkinformer exports them to libkinformer-apiserver
 * and libkinformer-http under a symbol version of their own, see src/libkinformer_private.map. */
#ifndef KI_BASE_SHARED_H
#define KI_BASE_SHARED_H

#define KI__SHARED __attribute__((visibility("default")))

/** For tables: libkinformer itself accesses them directly, as if they were not exported. */
#ifdef KI__LIBKINFORMER
#define KI__SHARED_TABLE __attribute__((visibility("protected")))
#else
#define KI__SHARED_TABLE
#endif

#endif
