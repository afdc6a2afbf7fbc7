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

/** The version of the library that is linked, as "major.minor.patch".
 *  Owner: static text.  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API const char *ki_version(void);

/** The same as a number to compare with KI_VERSION_NUM.
 *  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API int ki_version_num(void);

KI_END_DECLS

#endif
