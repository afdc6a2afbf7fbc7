/* SPDX-License-Identifier: Apache-2.0 */
/* CHECK() for tests in C++: without exceptions, so that it can be used in callbacks as well. */
#ifndef KI_TESTS_SUPPORT_CHECK_HPP
#define KI_TESTS_SUPPORT_CHECK_HPP

#include <cstdio>
#include <cstdlib>

#define CHECK(condition)                                                                 \
    do {                                                                                 \
        if (!(condition)) {                                                              \
            std::fprintf(stderr, "%s:%d: failed: %s\n", __FILE__, __LINE__, #condition); \
            std::exit(1);                                                                \
        }                                                                                \
    } while (0)

#endif
