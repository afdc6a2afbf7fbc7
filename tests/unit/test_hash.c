/* SPDX-License-Identifier: Apache-2.0 */
/* The vectors were computed with an independent implementation in Python that follows the paper and
 * gives its published SipHash-2-4 values (such as a129ca6149be45e5 for the bytes 0 to 14) when run
 * with two and four rounds. Those with the zero key are also what DefaultHasher of Rust's standard
 * library gives. */
#include <errno.h>
#include <string.h>

#include "base/hash.h"
#include "support/test.h"

/* The key is the bytes 0 to 15. */
static const ki__hash_key paper_key = {
    UINT64_C(0x0706050403020100),
    UINT64_C(0x0f0e0d0c0b0a0908),
};

/* Element n: the hash of the n bytes 0, 1, 2, ... n - 1. */
static const uint64_t vectors[64] = {
    0xabac0158050fc4dc, 0xc9f49bf37d57ca93, 0x82cb9b024dc7d44d, 0x8bf80ab8e7ddf7fb,
    0xcf75576088d38328, 0xdef9d52f49533b67, 0xc50d2b50c59f22a7, 0xd3927d989bb11140,
    0x369095118d299a8e, 0x25a48eb36c063de4, 0x79de85ee92ff097f, 0x70c118c1f94dc352,
    0x78a384b157b4d9a2, 0x306f760c1229ffa7, 0x605aa111c0f95d34, 0xd320d86d2a519956,
    0xcc4fdd1a7d908b66, 0x9cf2689063dbd80c, 0x8ffc389cb473e63e, 0xf21f9de58d297d1c,
    0xc0dc2f46a6cce040, 0xb992abfe2b45f844, 0x7ffe7b9ba320872e, 0x525a0e7fdae6c123,
    0xf464aeb267349c8c, 0x45cd5928705b0979, 0x3a3e35e3ca9913a5, 0xa91dc74e4ade3b35,
    0xfb0bed02ef6cd00d, 0x88d93cb44ab1e1f4, 0x540f11d643c5e663, 0x2370dd1f8c21d1bc,
    0x81157b6c16a7b60d, 0x4d54b9e57a8ff9bf, 0x759f12781f2a753e, 0xcea1a3bebf186b91,
    0x2cf508d3ada26206, 0xb6101c2da3c33057, 0xb3f47496ae3a36a1, 0x626b57547b108392,
    0xc1d2363299e41531, 0x667cc1923f1ad944, 0x65704ffec8138825, 0x24f280d1c28949a6,
    0xc2ca1cedfaf8876b, 0xc2164bfc9f042196, 0xa16e9c9368b1d623, 0x49fb169c8b5114fd,
    0x9f3143f8df074c46, 0xc6fdaf2412cc86b3, 0x7eaf49d10a52098f, 0x1cf313559d292f9a,
    0xc44a30dda2f41f12, 0x36fae98943a71ed0, 0x318fb34c73f0bce6, 0xa27abf3670a7e980,
    0xb4bcc0db243c6d75, 0x23f8d852fdb71513, 0x8f035f4da67d8a08, 0xd89cd0e5b7e8f148,
    0xf6f4e6bcf7a644ee, 0xaec59ad80f1837f2, 0xc3b2f6154b6694e0, 0x9d199062b7bbb3a8,
};

static void hash_is_siphash_1_3_for_each_length(void **state)
{
    (void)state;
    unsigned char bytes[64];
    for (size_t n = 0; n < 64; n++) {
        bytes[n] = (unsigned char)n;
        assert_int_equal(ki__hash(paper_key, bytes, n), vectors[n]);
    }
}

static void hash_takes_the_length_modulo_256(void **state)
{
    (void)state;
    static const struct {
        size_t len;
        uint64_t hash;
    } cases[] = {
        {200, UINT64_C(0xb73fe861830efaed)},
        {255, UINT64_C(0xf76214e3153c4a15)},
        {256, UINT64_C(0x75b3e64e167de370)},
        {300, UINT64_C(0x4016a23bda5a2224)},
    };
    unsigned char bytes[300];
    for (size_t i = 0; i < sizeof(bytes); i++) {
        bytes[i] = (unsigned char)i;
    }
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_int_equal(ki__hash(paper_key, bytes, cases[i].len), cases[i].hash);
    }
}

static void hash_depends_on_both_halves_of_the_key(void **state)
{
    (void)state;
    ki_str pod = ki_str_from("kube-system/coredns-5d78c9869d-abcde");
    ki__hash_key key = {UINT64_C(0x0123456789abcdef), UINT64_C(0xfedcba9876543210)};
    assert_int_equal(ki__hash_str(key, pod), UINT64_C(0x6d8d29c69c03fe11));
    ki__hash_key first = {key.k0 ^ 1, key.k1};
    ki__hash_key second = {key.k0, key.k1 ^ 1};
    assert_int_not_equal(ki__hash_str(first, pod), ki__hash_str(key, pod));
    assert_int_not_equal(ki__hash_str(second, pod), ki__hash_str(key, pod));
}

static void hash_with_a_zero_key_is_rusts_default(void **state)
{
    (void)state;
    ki__hash_key zero = {0, 0};
    unsigned char bytes[9];
    memset(bytes, 0xff, sizeof(bytes));
    assert_int_equal(ki__hash(zero, bytes, sizeof(bytes)), UINT64_C(0xe271c8ef95f59694));
    assert_int_equal(ki__hash(zero, NULL, 0), UINT64_C(0xd1fba762150c532c));
}

static void hash_reads_from_any_alignment(void **state)
{
    (void)state;
    _Alignas(16) unsigned char room[64 + 8];
    for (size_t shift = 0; shift < 8; shift++) {
        for (size_t i = 0; i < 63; i++) {
            room[shift + i] = (unsigned char)i;
        }
        assert_int_equal(ki__hash(paper_key, room + shift, 63), vectors[63]);
    }
}

/* Gives the bytes 0, 1, 2, ...; with `user` set it writes half of them and fails. */
static int fill_in_order(void *bytes, size_t len, void *user)
{
    unsigned char *p = bytes;
    for (size_t i = 0; i < (user != NULL ? len / 2 : len); i++) {
        p[i] = (unsigned char)i;
    }
    return user != NULL ? -EIO : 0;
}

static void key_comes_from_the_random_table(void **state)
{
    (void)state;
    const ki_random random = {0, fill_in_order, NULL};
    ki__hash_key key = ki__hash_key_make(&random, NULL);
    unsigned char expected[16];
    (void)fill_in_order(expected, sizeof(expected), NULL);
    assert_memory_equal(&key, expected, sizeof(expected));
}

static void key_without_randomness_depends_on_the_salt(void **state)
{
    (void)state;
    int fails = 1;
    const ki_random broken = {0, fill_in_order, &fails};
    const int salts[2] = {0, 0};
    const ki_random *randoms[] = {NULL, &broken};
    for (size_t i = 0; i < 2; i++) {
        ki__hash_key one = ki__hash_key_make(randoms[i], &salts[0]);
        ki__hash_key two = ki__hash_key_make(randoms[i], &salts[1]);
        assert_int_not_equal(one.k0, two.k0);
        assert_int_not_equal(one.k1, two.k1);
        assert_int_not_equal(one.k0, one.k1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hash_is_siphash_1_3_for_each_length),
        cmocka_unit_test(hash_takes_the_length_modulo_256),
        cmocka_unit_test(hash_depends_on_both_halves_of_the_key),
        cmocka_unit_test(hash_with_a_zero_key_is_rusts_default),
        cmocka_unit_test(hash_reads_from_any_alignment),
        cmocka_unit_test(key_comes_from_the_random_table),
        cmocka_unit_test(key_without_randomness_depends_on_the_salt),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
