/* SPDX-License-Identifier: Apache-2.0 */
/* The version of the library, at compile time and at run time. */
#ifndef KINFORMER_VERSION_H
#define KINFORMER_VERSION_H

#include <kinformer/defs.h>

#define KI_VERSION_MAJOR 0
#define KI_VERSION_MINOR 1
#define KI_VERSION_PATCH 0
#define KI_VERSION_NUM (KI_VERSION_MAJOR * 10000 + KI_VERSION_MINOR * 100 + KI_VERSION_PATCH)

KI_BEGIN_DECLS

/** Returns the version of the linked library, as "major.minor.patch".
 *  Owner: static text.  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API const char *ki_version(void);

/** Returns the version of the linked library as a number, for comparison with KI_VERSION_NUM.
 *  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API int ki_version_num(void);

KI_END_DECLS

#endif
