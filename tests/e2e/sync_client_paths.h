/* SPDX-License-Identifier: Apache-2.0 */
/* The part of sync_client.c that reads values of objects by path, and what it needs of bytes. */
#ifndef SYNC_CLIENT_PATHS_H
#define SYNC_CLIENT_PATHS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <kinformer/kinformer.h>

/** Whether `hex` is text in hexadecimal that fits. NULL is not. */
bool unhex(const char *hex, char *text, size_t size);

/** The CRC-32 of bytes, as zlib has it. */
uint32_t checksum(ki_str bytes);

/** Prints a line of what the path leads to, or returns an error. */
int tell_path(const ki_object *object, const char *text);

#endif
