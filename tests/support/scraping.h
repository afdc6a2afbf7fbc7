/* SPDX-License-Identifier: Apache-2.0 */
/* Reads metrics in their text form. */
#ifndef TESTS_SUPPORT_SCRAPING_H
#define TESTS_SUPPORT_SCRAPING_H

#include <stdlib.h>
#include <string.h>

#include "support/test.h"

/** The value of the first sample of this name whose labels contain `labels`; NULL if there is none.
 *  With the "_bucket" or so of a histogram. */
static inline const char *scraping_find(const char *text, const char *name, const char *labels)
{
    size_t len = strlen(name);
    for (const char *line = text; line != NULL && *line != '\0';) {
        const char *end = strchr(line, '\n');
        const char *found = strstr(line, labels);
        bool is_it = strncmp(line, name, len) == 0 && (line[len] == '{' || line[len] == ' ');
        if (is_it && end != NULL && found != NULL && found < end) {
            const char *value = end;
            while (value[-1] != ' ') {
                value--;
            }
            return value;
        }
        line = end != NULL ? end + 1 : NULL;
    }
    return NULL;
}

/** The same as a number; fails the test if there is none. */
static inline double scraping_value(const char *text, const char *name, const char *labels)
{
    const char *value = scraping_find(text, name, labels);
    if (value == NULL) {
        fail_msg("no sample %s{...%s...} in:\n%s", name, labels, text);
    }
    return value != NULL ? strtod(value, NULL) : 0;
}

#endif
