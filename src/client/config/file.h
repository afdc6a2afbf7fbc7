/* SPDX-License-Identifier: Apache-2.0 */
/* Small files of configuration and credentials, and paths to them. Only regular files are opened,
 * nothing is inherited by other programs, and what is read is wiped when it is freed. */
#ifndef KI_CLIENT_CONFIG_FILE_H
#define KI_CLIENT_CONFIG_FILE_H

#include <kinformer/error.h>
#include <kinformer/str.h>

#include "base/secret.h"

/** Information about an opened file. */
typedef struct ki__file_info {
    bool others_read; /* everybody may read it */
    bool others_write;
    bool group_write;
    bool foreign; /* owned by a user who is neither root nor the effective one of the process */
} ki__file_info;

/** The content of a file, terminated, in `secrets`.
 *  Errors: -errno;  KI_ERR_INVALID  not a regular file;  KI_ERR_LIMIT  more than `max` bytes. */
int ki__file_read(const char *path, size_t max, ki__secrets *secrets, ki_str *ret_text,
                  ki__file_info *ret_info);

/** Whether ki__file_read() would be able to begin; the same errors. */
int ki__file_check(const char *path, size_t max, ki__file_info *ret_info);

/** A few words for an error of the two. */
const char *ki__file_error_text(int code);

/** The absolute folder that a file is in, in `secrets`. -ENOMEM, or -errno of the working folder.
 */
int ki__file_folder(const char *path, ki__secrets *secrets, const char **ret_folder);

/** A path as seen from a folder, which is absolute: cleaned of "." and ".." by its text alone, as
 *  Go does it. NULL if there is no memory. */
char *ki__file_join(const char *folder, ki_str path, ki__secrets *secrets);

#endif
