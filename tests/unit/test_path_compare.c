/* SPDX-License-Identifier: Apache-2.0 */
/* Which elements pass a filter. */
#include <errno.h>

#include "support/path.h"
#include "support/test.h"

/* Every element has its own "id", so that results say which ones passed. */
static const char mixed[] =
    "{\"l\":[{\"id\":1,\"n\":5,\"s\":\"b\",\"f\":true,\"m\":5,\"t\":[\"x\",\"y\"]},"
    "{\"id\":2,\"n\":2.5,\"s\":\"a\",\"f\":false,\"m\":7},"
    "{\"id\":3,\"n\":\"5\",\"s\":\"\",\"z\":null,\"t\":[\"z\"]},"
    "{\"id\":4,\"n\":-1e2,\"s\":\"b\\u0041\",\"f\":\"true\",\"t\":[]},"
    "{\"id\":5,\"n\":[5],\"s\":{\"s\":\"b\"},\"m\":null}],"
    "\"i\":[2,6,3,7,2.0],\"o\":{\"a\":{\"n\":5}}}";

static void comparisons_with_literals(void **state)
{
    (void)state;
    static const test_path_case cases[] = {
        {".l[?(@.n==5)].id", "1"},
        {".l[?(@.n == 5.0)].id", "1"},
        {".l[?(@.n==+5)].id", "1"},
        {".l[?(@.n==0.5e1)].id", "1"},
        {".l[?(@.n==2.5)].id", "2"},
        {".l[?(@.n==-100)].id", "4"},
        {".l[?(@.n=='5')].id", "3"},
        {".l[?(@.n!=5)].id", "2 3 4 5"},
        {".l[?(@.n<5)].id", "2 4"},
        {".l[?(@.n<=5)].id", "1 2 4"},
        {".l[?(@.n>2)].id", "1 2"},
        {".l[?(@.n>=2.5)].id", "1 2"},
        {".l[?(@.n>2.4999)].id", "1 2"},
        {".l[?(@.n>1e300)].id", ""},
        {".l[?(5==@.n)].id", "1"},
        {".l[?(5>@.n)].id", "2 4"},
        {".l[?(5>=@.n)].id", "1 2 4"},
        {".l[?(2<@.n)].id", "1 2"},
        {".l[?(2.5<=@.n)].id", "1 2"},
        {".l[?(5!=@.n)].id", "2 3 4 5"},
        {".l[?(@.s=='b')].id", "1"},
        {".l[?(@.s==\"b\")].id", "1"},
        {".l[?(\"b\"==@.s)].id", "1"},
        {".l[?(@.s=='bA')].id", "4"},
        {".l[?(@.s!='bA')].id", "1 2 3 5"},
        {".l[?(@.s=='')].id", "3"},
        {".l[?(@.s<'b')].id", "2 3"},
        {".l[?(@.s<='b')].id", "1 2 3"},
        {".l[?(@.s>'b')].id", "4"},
        {".l[?(@.s>='bA')].id", "4"},
        {".l[?('b'<@.s)].id", "4"},
        {".l[?(@.s>'a')].id", "1 4"},
        {".l[?(@.f==true)].id", "1"},
        {".l[?(@.f==false)].id", "2"},
        {".l[?(@.f!=true)].id", "2 4"},
        {".l[?(true==@.f)].id", "1"},
        {".l[?(@.f=='true')].id", "4"},
        {".l[?(@.z==1)].id", ""},
        {".l[?(@.z!=1)].id", "3"},
        {".l[?(@.missing!=1)].id", ""},
        {".l[?( @.n == 5 )].id", "1"},
        {".l[ ?(@.n==5)].id", "1"},
        {".l[?(.n==5)].id", "1"},
        {".l[?(['n']==5)].id", "1"},
        {".l[?(@['n']==5)].id", "1"},
        {".l[?(@.s.s=='b')].id", "5"},
        {".l[?(@.n[0]==5)].id", "5"},
        {".i[?(@<5)]", "2 3 2.0"},
        {".i[?(@==2)]", "2 2.0"},
        {".i[?(@>=6)]", "6 7"},
        {".o[?(@.n==5)]", ""},
        {".l[0][?(@.n==5)]", ""},
        {"[?(@.n==5)]", ""},
        {".missing[?(@.n==5)]", ""},
    };
    TEST_PATH_CASES(mixed, cases);
}

static void conditions_of_being_there(void **state)
{
    (void)state;
    static const test_path_case cases[] = {
        {".l[?(@)].id", "1 2 3 4 5"},
        {".l[?(@.z)].id", "3"},
        {".l[?(@.f)].id", "1 2 4"},
        {".l[?( @.f )].id", "1 2 4"},
        {".l[?(@.missing)].id", ""},
        {".l[?(@.t)].id", "1 3 4"},
        {".l[?(@.t[0])].id", "1 3"},
        {".l[?(@.t[*])].id", "1 3"},
        {".l[?(@.t[-2])].id", "1"},
        {".l[?(@..s)].id", "1 2 3 4 5"},
        {".l[?(@.s.s)].id", "5"},
        {".l[?(@['z','f'])].id", "1 2 3 4"},
        {".l[?(@.t[1:])].id", "1"},
        {".l[?(@.t)][?(@.x)]", ""},
        {".l[?(@.t)].t[?(@>'x')]", "\"y\" \"z\""},
    };
    TEST_PATH_CASES(mixed, cases);
}

static void comparisons_of_two_paths(void **state)
{
    (void)state;
    static const test_path_case cases[] = {
        {".l[?(@.n==@.m)].id", "1"},
        {".l[?(@.n!=@.m)].id", "2 5"},
        {".l[?(@.n<@.m)].id", "2"},
        {".l[?(@.m>@.n)].id", "2"},
        {".l[?(@.n<=@.m)].id", "1 2"},
        {".l[?(@.m>=@.n)].id", "1 2"},
        {".l[?(@.s==@.s)].id", "1 2 3 4"},
        {".l[?(@.s!=@.s)].id", "5"},
        {".l[?(@.s<@.s)].id", ""},
        {".l[?(@.s<=@.s)].id", "1 2 3 4"},
        {".l[?(@.f==@.f)].id", "1 2 4"},
        {".l[?(@.f<=@.f)].id", "4"},
        {".l[?(@.z==@.z)].id", "3"},
        {".l[?(@.z>=@.z)].id", ""},
        {".l[?(@==@)].id", ""},
        {".l[?(@.n==@.missing)].id", ""},
        {".l[?(@.missing!=@.n)].id", ""},
        {".i[?(@==@)]", "2 6 3 7 2.0"},
        {".l[?(@.*==@.id)].id", "1 2 3 4 5"},
        {".l[?(@.m==@['n','id'])].id", "1"},
        {".l[?(@['n','id']<@.m)].id", "1 2"},
        {".l[?(@.m>@['n','id'])].id", "1 2"},
    };
    TEST_PATH_CASES(mixed, cases);
}

/* A side that leads to several values: any of them will do, and the element counts once. */
static void comparisons_with_any_of_several(void **state)
{
    (void)state;
    static const test_path_case cases[] = {
        {".l[?(@.t[*]=='y')].id", "1"},   {".l[?(@.t[*]>='x')].id", "1 3"},
        {".l[?(@.t[*]!='x')].id", "1 3"}, {".l[?(@.t[*]=='none')].id", ""},
        {".l[?('z'==@.t[*])].id", "3"},   {".l[?(@..s=='b')].id", "1 5"},
        {".l[?(@['n','m']==5)].id", "1"}, {".l[?(@['n','m']==7)].id", "2"},
        {".l[?(@.t[0,1]=='y')].id", "1"}, {".l[?(@.t[1:]=='y')].id", "1"},
        {".l[?(@..==5)].id", "1 5"},      {".l[?(@..*==5)].id", "1 5"},
    };
    TEST_PATH_CASES(mixed, cases);
}

static void joined_conditions(void **state)
{
    (void)state;
    static const test_path_case cases[] = {
        {".l[?(@.n==5&&@.s=='b')].id", "1"},
        {".l[?(@.n==5 && @.s=='a')].id", ""},
        {".l[?(@.n==5 || @.s=='a')].id", "1 2"},
        {".l[?(@.n==5||@.n==2.5||@.n=='5')].id", "1 2 3"},
        {".l[?(@.n && @.s && @.t)].id", "1 3 4"},
        {".l[?(@.z || @.m)].id", "1 2 3 5"},
        {".l[?(@.id==1 || @.id==2 && @.s=='none')].id", "1"},
        {".l[?(@.id==2 && @.s=='none' || @.id==1)].id", "1"},
        {".l[?(@.id==2 && @.s=='a' || @.id==1 && @.s=='a')].id", "2"},
        {".l[?(@.id==1 && @.id==2 && @.id==3 || @.id==4)].id", "4"},
        {".l[?(@.missing && @.n==5 || @.n==5)].id", "1"},
        {".l[?(@.t[*]=='y' && @.t[*]=='x')].id", "1"},
        {".l[?(@..s=='b' && @..s=='b' || @.id==2)].id", "1 2 5"},
        {".l[?(@.n==@.m && @.f || @.z)].id", "1 3"},
        {".l[?(@.n==@.m && @.m==@.id)].id", ""},
        {".l[?(@.n==@.m && @.id<@.m)].id", "1"},
        {".l[?(@..s=='b' && @.n==5)]..n", "5"},
        {"..[?(@..s=='b' && @.id)]..s", "\"b\" {\"s\":\"b\"} \"b\""},
    };
    TEST_PATH_CASES(mixed, cases);
}

/* The first element that passes may lack what follows: the walk continues with the next. */
static void first_continues_behind_an_element_that_leads_nowhere(void **state)
{
    (void)state;
    static const test_path_case cases[] = {
        {".c[?(@.type=='Ready')].status", "\"True\""},
        {".c[?(@.type=='Ready')].x.y", ""},
        {".c[?(@.type=='Ready')].list[?(@.a==1)].b", "2"},
    };
    TEST_PATH_CASES("{\"c\":[{\"type\":\"Ready\"},{\"type\":\"Ready\",\"status\":\"True\","
                    "\"list\":[{\"a\":1},{\"a\":1,\"b\":2}]}]}",
                    cases);
}

/* The sides of a filter are walked on top of the descent that led to it, and must leave nothing
 * behind there. */
static void filters_within_descents(void **state)
{
    (void)state;
    static const test_path_case cases[] = {
        {"..[?(@..s=='b')].id", "1 2 3"},
        {"..[?(@..s=='b' && @..s)].id", "1 2 3"},
        {"..[?(@..s=='none' || @..s=='b')]..id", "1 2 3 2 3"},
        {"..[?(@[*].s=='b')].id", "1"},
    };
    TEST_PATH_CASES("{\"l\":[{\"id\":1,\"q\":{\"s\":\"b\"},\"after\":[{\"s\":\"b\",\"id\":2},"
                    "{\"s\":\"b\",\"id\":3}]}]}",
                    cases);
}

static void large_numbers_compare_exactly(void **state)
{
    (void)state;
    static const test_path_case cases[] = {
        {".l[?(@==9223372036854775807)]", "9223372036854775807"},
        {".l[?(@==9223372036854775808)]", "9223372036854775808"},
        {".l[?(@==9223372036854775806)]", ""},
        {".l[?(@<9223372036854775808)]",
         "9223372036854775807 -9223372036854775808 9007199254740993 0.5 -1e300"},
        {".l[?(@<=-9223372036854775808)]", "-9223372036854775808 -1e300"},
        {".l[?(@<-9223372036854775808)]", "-1e300"},
        {".l[?(@>9223372036854775807)]", "9223372036854775808 1e300"},
        {".l[?(@==9007199254740992)]", ""},
        {".l[?(@==9007199254740993)]", "9007199254740993"},
        {".l[?(@<1)]", "-9223372036854775808 0.5 -1e300"},
        {".l[?(@<0.75)]", "-9223372036854775808 0.5 -1e300"},
        {".l[?(@>-0.5e0)]", "9223372036854775807 9007199254740993 9223372036854775808 0.5 1e300"},
        {".l[?(@==1e300)]", "1e300"},
        {".l[?(@>1e299)]", "1e300"},
        {".l[?(@<-1e299)]", "-1e300"},
        /* Beyond every double: it is only known to be different. */
        {".huge[?(@!=1)]", "1e999"},
        {".huge[?(@>1)]", ""},
        {".huge[?(@==@)]", ""},
    };
    TEST_PATH_CASES("{\"l\":[9223372036854775807,-9223372036854775808,9007199254740993,"
                    "9223372036854775808,0.5,1e300,-1e300],\"huge\":[1e999]}",
                    cases);
}

/* Strings with escapes cannot be viewed in place; they compare all the same. */
static void encoded_strings(void **state)
{
    (void)state;
    static const test_path_case cases[] = {
        {".l[?(@.a==@.b)].id", "1 2 3"},
        {".l[?(@.a!=@.b)].id", "4 5"},
        {".l[?(@.a<@.b)].id", "4"},
        {".l[?(@.a>@.b)].id", "5"},
        {".l[?(@.a<=@.b)].id", "1 2 3 4"},
        {".l[?(@.a=='x\\ny')].id", "1 2 3"},
        {".l[?(@.a=='x\ny')].id", "1 2 3"},
        {".l[?(@.a<'x\\nz')].id", "1 2 3 4"},
        {".l[?(@.a>='x\\nz')].id", "5"},
        {".l[?(@.q=='it\\'s \"q\"')].id", "1"},
        {".l[?(@.q==\"it's \\\"q\\\"\")].id", "1"},
        {".l[?(@.q=='tab\\there')].id", "2"},
    };
    TEST_PATH_CASES("{\"l\":[{\"id\":1,\"a\":\"x\\ny\",\"b\":\"x\\ny\",\"q\":\"it's \\\"q\\\"\"},"
                    "{\"id\":2,\"a\":\"x\\ny\",\"b\":\"x\\u000ay\",\"q\":\"tab\\there\"},"
                    "{\"id\":3,\"a\":\"\\u0078\\ny\",\"b\":\"x\\ny\"},"
                    "{\"id\":4,\"a\":\"x\\n\",\"b\":\"x\\ny\"},"
                    "{\"id\":5,\"a\":\"y\\n\",\"b\":\"x\"}]}",
                    cases);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(comparisons_with_literals),
        cmocka_unit_test(conditions_of_being_there),
        cmocka_unit_test(comparisons_of_two_paths),
        cmocka_unit_test(comparisons_with_any_of_several),
        cmocka_unit_test(joined_conditions),
        cmocka_unit_test(first_continues_behind_an_element_that_leads_nowhere),
        cmocka_unit_test(filters_within_descents),
        cmocka_unit_test(large_numbers_compare_exactly),
        cmocka_unit_test(encoded_strings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
