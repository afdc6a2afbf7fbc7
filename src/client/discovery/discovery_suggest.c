/* SPDX-License-Identifier: Apache-2.0 */
/* The error for an unknown name: the same name in other groups, or similar names, and the group
 * versions whose discovery failed, one of which may have it. */
#include <string.h>

#include "base/error.h"
#include "client/discovery/discovery.h"

enum {
    SUGGESTIONS = 3,
    LABEL_MAX = 63,
    BAND = 2,       /* maximum edit distance of a suggestion */
    FAR = BAND + 2, /* more than any score */
    PREFIX_MIN = 3  /* minimum length of a prefix match */
};

typedef struct suggestions {
    const ki_resource *found[SUGGESTIONS];
    size_t count;
    int score; /* of all of them: only the best are kept */
} suggestions;

/* Edit distance with transpositions; above BAND it is FAR. Only positions at most BAND apart
 * matter. */
static int distance(ki_str a, ki_str b)
{
    size_t gap = a.len > b.len ? a.len - b.len : b.len - a.len;
    if (gap > BAND || a.len > LABEL_MAX || b.len > LABEL_MAX) {
        return FAR;
    }
    uint8_t rows[3][LABEL_MAX + 1];
    memset(rows, FAR, sizeof(rows));
    for (size_t j = 0; j <= b.len && j <= BAND; j++) {
        rows[0][j] = (uint8_t)j;
    }
    for (size_t i = 1; i <= a.len; i++) {
        uint8_t *row = rows[i % 3];
        const uint8_t *above = rows[(i + 2) % 3];
        const uint8_t *two_above = rows[(i + 1) % 3];
        size_t from = i > BAND ? i - BAND : 0;
        memset(row, FAR, LABEL_MAX + 1);
        for (size_t j = from; j <= b.len && j <= i + BAND; j++) {
            int best = j == 0 ? (int)i : above[j - 1] + (a.ptr[i - 1] != b.ptr[j - 1]);
            int dropped = above[j] + 1;
            best = dropped < best ? dropped : best;
            int added = j != 0 ? row[j - 1] + 1 : FAR;
            best = added < best ? added : best;
            if (i > 1 && j > 1 && a.ptr[i - 1] == b.ptr[j - 2] && a.ptr[i - 2] == b.ptr[j - 1]) {
                int swapped = two_above[j - 2] + 1;
                best = swapped < best ? swapped : best;
            }
            row[j] = (uint8_t)(best < FAR ? best : FAR);
        }
    }
    return rows[a.len % 3][b.len];
}

/* Distance of a name to the word: the edit distance, or a prefix match. */
static int score_of(ki_str word, ki_str name)
{
    int letters = distance(word, name);
    if (letters <= (word.len <= PREFIX_MIN ? 1 : BAND)) {
        return letters;
    }
    bool begins =
        word.len >= PREFIX_MIN && name.len > word.len && memcmp(name.ptr, word.ptr, word.len) == 0;
    return begins ? BAND + 1 : FAR;
}

static bool is_among(const suggestions *near, const ki_resource *resource, bool with_group)
{
    for (size_t i = 0; i < near->count; i++) {
        const ki_resource *other = near->found[i];
        if (strcmp(ki_resource_name(other), ki_resource_name(resource)) == 0 &&
            (!with_group || strcmp(ki_resource_group(other), ki_resource_group(resource)) == 0)) {
            return true;
        }
    }
    return false;
}

static void suggest(suggestions *near, const ki_resource *resource, bool with_group)
{
    if (near->count < SUGGESTIONS && !is_among(near, resource, with_group)) {
        near->found[near->count++] = resource;
    }
}

static void suggest_groups(suggestions *near, const ki_discovery *discovery, ki_str word)
{
    size_t end;
    size_t at = ki__discovery_names_of(discovery, word, &end);
    for (; at < end; at++) {
        suggest(near, discovery->entries[discovery->names[at].entry].resource, true);
    }
}

static void suggest_near(suggestions *near, const ki_discovery *discovery, ki_str word)
{
    near->score = FAR;
    for (size_t i = 0; i < discovery->name_count; i++) {
        const ki__discovery_name *name = &discovery->names[i];
        int score = score_of(word, ki_str_make(name->text, name->len));
        if (score < near->score) {
            near->score = score;
            near->count = 0;
        }
        if (score == near->score && score < FAR) {
            suggest(near, discovery->entries[name->entry].resource, false);
        }
    }
}

static void add(ki_error *error, const char *text)
{
    ki__error_add(error, ki_str_from(text));
}

static void add_suggestions(ki_error *error, const suggestions *near, bool with_group)
{
    for (size_t i = 0; i < near->count; i++) {
        const char *group = ki_resource_group(near->found[i]);
        add(error, i == 0 ? "; did you mean " : i + 1 == near->count ? " or " : ", ");
        add(error, ki_resource_name(near->found[i]));
        if (with_group && group[0] != '\0') {
            add(error, ".");
            add(error, group);
        }
    }
    add(error, near->count != 0 ? "?" : "");
}

int ki__discovery_not_found(const ki_discovery *discovery, const char *name, ki_str word,
                            ki_error *error)
{
    int r = ki__error_set(error, KI_ERR_NOT_FOUND, "the server has no resource \"");
    if (error == NULL) {
        return r;
    }
    add(error, name);
    add(error, "\"");
    suggestions near = {0};
    suggest_groups(&near, discovery, word);
    bool other_groups = near.count != 0;
    if (!other_groups) {
        suggest_near(&near, discovery, word);
    }
    add_suggestions(error, &near, other_groups);
    for (size_t i = 0; i < discovery->failure_count && i < SUGGESTIONS; i++) {
        add(error, i == 0 ? near.count != 0 ? " Discovery failed for: " : "; discovery failed for: "
                          : ", ");
        add(error, discovery->failures[i]);
    }
    add(error, discovery->failure_count > SUGGESTIONS ? " and more" : "");
    return r;
}
