/* SPDX-License-Identifier: Apache-2.0 */
/* Which paths read fields that a projection does not keep. */
#include "object/path/path.h"
#include "object/projection/keep_tree.h"
#include "object/value.h"

static const ki__keep_node *follow(const ki_path *path, uint8_t at, const ki__keep_node *node,
                                   bool *ret_filter);

/* Whether a condition of a filter reads something that was not kept of an element. The steps of a
 * condition have no filter, so the recursion with follow() is one level deep. */
static bool tests_unkept(const ki_path *path, uint8_t first, const ki__keep_node *element)
{
    for (const ki__path_term *term = &path->terms[first];; term++) {
        bool right = term->op != KI__PATH_EXISTS && term->literal.type == KI_TYPE_NONE;
        if (follow(path, term->left, element, NULL) == &ki__keep_none ||
            (right && follow(path, term->right, element, NULL) == &ki__keep_none)) {
            return true;
        }
        if (term->last) {
            return false;
        }
    }
}

/* The node of a projection that a chain of steps leads to, whatever the object contains; NULL where
 * that depends on the object. */
static const ki__keep_node *follow(const ki_path *path, uint8_t at, const ki__keep_node *node,
                                   bool *ret_filter)
{
    while (at != KI__PATH_NONE && node != NULL && node != &ki__keep_none) {
        const ki__path_step *step = &path->steps[at];
        if (step->kind == KI__PATH_FIELD) {
            node = ki__keep_member(node, step->name);
        } else if (step->kind == KI__PATH_UNION || step->kind == KI__PATH_DESCEND ||
                   (step->kind == KI__PATH_ALL && node->count != 0)) {
            return NULL;
        } else {
            node = node->rest;
        }
        if (step->kind == KI__PATH_FILTER && ret_filter != NULL) {
            *ret_filter = *ret_filter || tests_unkept(path, step->inner, node);
        }
        at = step->next;
    }
    return node;
}

int ki__path_failure(const ki_path *path, const ki_value *root)
{
    bool filter = false;
    int failure = root->ops == NULL ? ki__value_failure(root) : 0;
    if (failure < 0 || root->kept == NULL) {
        return failure;
    }
    return follow(path, path->first, root->kept, &filter) == &ki__keep_none || filter
               ? KI_ERR_NOT_KEPT
               : 0;
}
