/* SPDX-License-Identifier: Apache-2.0 */
/* Small configuration and credential files, and their paths. Only regular files are opened,
 * descriptors are close-on-exec, and file contents are wiped when freed. */
#ifndef KI_CLIENT_CONFIG_FILE_H
#define KI_CLIENT_CONFIG_FILE_H

#include <kinformer/error.h>
#include <kinformer/str.h>

#include "base/secret.h"
#include "base/shared.h"

/** Information about an opened file. */
typedef struct ki__file_info {
    bool others_read; /* world-readable */
    bool others_write;
    bool group_write;
    bool foreign; /* owned by neither root nor the effective user */
} ki__file_info;

/** Reads a file, NUL-terminated, into `secrets`.
 *  Errors: -errno;  KI_ERR_INVALID  not a regular file;  KI_ERR_LIMIT  more than `max` bytes. */
KI__SHARED int ki__file_read(const char *path, size_t max, ki__secrets *secrets, ki_str *ret_text,
                             ki__file_info *ret_info);

/** Whether ki__file_read() could open the file; the same errors. */
int ki__file_check(const char *path, size_t max, ki__file_info *ret_info);

/** A short text for an error of the two. */
KI__SHARED const char *ki__file_error_text(int code);

/** The absolute directory of a file, in `secrets`. -ENOMEM, or -errno of getcwd(). */
int ki__file_folder(const char *path, ki__secrets *secrets, const char **ret_folder);

/** Joins a path to an absolute directory and cleans it of "." and ".." lexically, as Go does. NULL
 *  if out of memory. */
char *ki__file_join(const char *folder, ki_str path, ki__secrets *secrets);

#endif
