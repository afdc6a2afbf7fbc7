/* SPDX-License-Identifier: Apache-2.0 */
#include "cache/store/opened.h"

#include "cache/store/txn.h"
#include "cache/store/version.h"
#include "object/pack/packed.h"

static ki_object **at(ki__recent *recent, size_t position)
{
    return &recent->objects[(recent->first + position) % KI__PACK_OPENED_MAX];
}

static size_t bytes_of(const ki_object *object)
{
    return ki__packed_of(object)->image_len;
}

/* Releases the oldest. */
static void forget(ki__recent *recent)
{
    ki_object *oldest = *at(recent, 0);
    recent->first = (recent->first + 1) % KI__PACK_OPENED_MAX;
    recent->count--;
    recent->bytes -= bytes_of(oldest);
    (void)ki_object_unref(oldest);
}

static void remember(ki__recent *recent, ki__packed *packed)
{
    ki_object *object = ki__packed_object(packed);
    *at(recent, recent->count++) = object; /* with the reference of the list */
    recent->bytes += bytes_of(object);
}

/* Closes the oldest, if the store still has it. */
static int close_oldest(ki_txn *txn, ki__recent *recent)
{
    ki_object *oldest = *at(recent, 0);
    int r = ki__txn_close(txn, oldest);
    if (r >= 0) {
        forget(recent);
    }
    return r;
}

/* Puts the list of opened objects in the order of opening. */
static ki__packed *reverse(ki__packed *newest)
{
    ki__packed *oldest = NULL;
    while (newest != NULL) {
        ki__packed *next = newest->next_opened;
        newest->next_opened = oldest;
        oldest = newest;
        newest = next;
    }
    return oldest;
}

/* If there is no memory to close one, it stays open until it is replaced. */
void ki__opened_close(ki_txn *txn)
{
    ki__recent *recent = &txn->store->recent;
    ki__packed *packed = reverse(ki__packer_take_opened(txn->store->packer));
    while (packed != NULL) {
        ki__packed *next = packed->next_opened;
        if (recent->count >= txn->store->packer->keep_open && close_oldest(txn, recent) < 0) {
            forget(recent);
        }
        remember(recent, packed);
        packed = next;
    }
    while (recent->bytes > atomic_load(&txn->store->packer->open_max) &&
           close_oldest(txn, recent) >= 0) {
    }
}

void ki__opened_done(ki_store *store)
{
    while (store->recent.count != 0) {
        forget(&store->recent);
    }
}
