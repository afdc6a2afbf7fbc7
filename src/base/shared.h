/* SPDX-License-Identifier: Apache-2.0 */
/* Functions and tables that both libraries use: libkinformer exports them to libkinformer-apiserver
 * under a version of their own, see src/libkinformer_private.map. */
#ifndef KI_BASE_SHARED_H
#define KI_BASE_SHARED_H

#define KI__SHARED __attribute__((visibility("default")))

/** For tables: libkinformer itself reads them directly, as if they were not exported. */
#ifdef KI__LIBKINFORMER
#define KI__SHARED_TABLE __attribute__((visibility("protected")))
#else
#define KI__SHARED_TABLE
#endif

#endif
