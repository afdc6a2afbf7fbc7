/* SPDX-License-Identifier: Apache-2.0 */
/* Functions and tables that both libraries use: libkinformer exports them to libkinformer-apiserver
 * under a version of their own, see src/libkinformer_private.map. */
#ifndef KI_BASE_SHARED_H
#define KI_BASE_SHARED_H

#define KI__SHARED __attribute__((visibility("default")))

#endif
