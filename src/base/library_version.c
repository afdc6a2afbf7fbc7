/* SPDX-License-Identifier: Apache-2.0 */
/* The version of the linked library, for programs built against another one. */
#include <kinformer/version.h>

#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)

const char *ki_version(void)
{
    return TEXT(KI_VERSION_MAJOR) "." TEXT(KI_VERSION_MINOR) "." TEXT(KI_VERSION_PATCH);
}

int ki_version_num(void)
{
    return KI_VERSION_NUM;
}
