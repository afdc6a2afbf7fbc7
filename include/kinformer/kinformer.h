/* SPDX-License-Identifier: Apache-2.0 */
/* All of kinformer in one. */
#ifndef KINFORMER_KINFORMER_H
#define KINFORMER_KINFORMER_H

#include <kinformer/alloc.h>
#include <kinformer/buf.h>
#include <kinformer/builtin_resources.h>
#include <kinformer/clock.h>
#include <kinformer/defs.h>
#include <kinformer/error.h>
#include <kinformer/key.h>
#include <kinformer/log.h>
#include <kinformer/object.h>
#include <kinformer/path.h>
#include <kinformer/resource.h>
#include <kinformer/selector.h>
#include <kinformer/status.h>
#include <kinformer/store.h>
#include <kinformer/str.h>
#include <kinformer/value.h>
#include <kinformer/version.h>

#endif
