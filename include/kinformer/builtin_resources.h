/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KINFORMER_BUILTIN_RESOURCES_H
#define KINFORMER_BUILTIN_RESOURCES_H
#endif
