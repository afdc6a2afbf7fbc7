/* SPDX-License-Identifier: Apache-2.0 */
/* What the library that is linked says of itself, for programs built with another version. */
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
