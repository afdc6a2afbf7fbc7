/* SPDX-License-Identifier: Apache-2.0 */
/* What paths lead to, except for filters (test_path_compare.c), and how walks end. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "support/path.h"
#include "support/test.h"

/* Small enough to see the results at a glance. */
static const char letters[] =
    "{\"a\":{\"b\":{\"c\":1,\"d\":[10,11,12,13,14]},\"x.y\":2,\"\":3},"
    "\"list\":[{\"n\":\"p\",\"v\":1},{\"n\":\"q\",\"v\":2,\"w\":true},{\"n\":\"r\"}],"
    "\"empty\":[],\"none\":null,\"grid\":[[1,2],[3,4],[5]],\"text\":\"abc\"}";

static void fields_and_their_spellings(void **state)
{
    (void)state;
    static const test_path_case cases[] = {
        {".a.b.c", "1"},
        {"a.b.c", "1"},
        {"{.a.b.c}", "1"},
        {"{a.b.c}", "1"},
        {" { .a.b.c } ", "1"},
        {"$.a.b.c", "1"},
        {"@.a.b.c", "1"},
        {"{$.a.b.c}", "1"},
        {"$['a']['b']['c']", "1"},
        {"['a'].b[\"c\"]", "1"},
        {".a .b\t.c", "1"},
        {".a[ 'b' ].c", "1"},
        {".a.x\\.y", "2"},
        {".a['x.y']", "2"},
        {".a['x\\.y']", "2"},
        {".a[\"x.y\"]", "2"},
        {".\\a.b.c", "1"},
        {".a['']", "3"},
        {".text", "\"abc\""},
        {".none", "null"},
        {".grid", "[[1,2],[3,4],[5]]"},
        {".A", ""},
        {".a.missing", ""},
        {".missing.b", ""},
        {".text.b", ""},
        {".none.b", ""},
        {".list.n", ""},
    };
    TEST_PATH_CASES(letters, cases);
}

static void the_root_itself(void **state)
{
    (void)state;
    static const test_path_case cases[] = {
        {"$", "{\"k\":1}"},   {"@", "{\"k\":1}"},   {".", "{\"k\":1}"},
        {"{@}", "{\"k\":1}"}, {"{.}", "{\"k\":1}"}, {" { $ } ", "{\"k\":1}"},
    };
    TEST_PATH_CASES("{\"k\":1}", cases);
}

static void names_with_every_sort_of_character(void **state)
{
    (void)state;
    static const test_path_case cases[] = {
        {".k8s-app", "1"},
        {".web/html", "2"},
        {"['it\\'s']", "3"},
        {"[\"it's\"]", "3"},
        {".it\\'s", "3"},
        {"['a\"b']", "4"},
        {"[\"a\\\"b\"]", "4"},
        {".a\\\"b", "4"},
        {"['back\\\\s']", "5"},
        {".back\\\\s", "5"},
        {".\\$ref", "6"},
        {"['$ref']", "6"},
        {"['new\\nline']", "7"},
        {".\xc3\xa9t\xc3\xa9", "8"},
        {"['\xc3\xa9t\xc3\xa9']", "8"},
        {".\\*", "9"},
        {"['*']", "9"},
        {".two\\ words", "10"},
        {"['two words']", "10"},
        {"['}{']", "11"},
        {".0", "12"},
        {"0", "12"},
        {"['a,b]']", "13"},
        {".range", "14"},
        {"range", "14"},
        {"{range}", "14"},
        {"end", "15"},
        {"{.end}", "15"},
        {"range.x", ""},
        {".a:b+c~d%e#f;g^h", "16"},
    };
    TEST_PATH_CASES("{\"k8s-app\":1,\"web/html\":2,\"it's\":3,\"a\\\"b\":4,\"back\\\\s\":5,"
                    "\"$ref\":6,\"new\\nline\":7,\"\xc3\xa9t\xc3\xa9\":8,\"*\":9,"
                    "\"two words\":10,\"}{\":11,\"0\":12,\"a,b]\":13,\"range\":14,\"end\":15,"
                    "\"a:b+c~d%e#f;g^h\":16}",
                    cases);
}

static void indexes_and_slices(void **state)
{
    (void)state;
    static const test_path_case cases[] = {
        {".a.b.d[0]", "10"},
        {".a.b.d[4]", "14"},
        {".a.b.d[-1]", "14"},
        {".a.b.d[-5]", "10"},
        {".a.b.d[-0]", "10"},
        {".a.b.d[ 2 ]", "12"},
        {".a.b.d[5]", ""},
        {".a.b.d[-6]", ""},
        {".a.b.d[9223372036854775807]", ""},
        {".a.b.d[-9223372036854775808]", ""},
        {".a.b[0]", ""},
        {".text[0]", ""},
        {".grid[1][0]", "3"},
        {".grid[-1][-1]", "5"},
        {".a.b.d[:]", "10 11 12 13 14"},
        {".a.b.d[::]", "10 11 12 13 14"},
        {".a.b.d[0:2]", "10 11"},
        {".a.b.d[:2]", "10 11"},
        {".a.b.d[3:]", "13 14"},
        {".a.b.d[-2:]", "13 14"},
        {".a.b.d[:-3]", "10 11"},
        {".a.b.d[-4:-1]", "11 12 13"},
        {".a.b.d[-1:]", "14"},
        {".a.b.d[::2]", "10 12 14"},
        {".a.b.d[1::2]", "11 13"},
        {".a.b.d[:4:2]", "10 12"},
        {".a.b.d[1:4:1]", "11 12 13"},
        {".a.b.d[ 1 : 4 : 2 ]", "11 13"},
        {".a.b.d[::9223372036854775807]", "10"},
        {".a.b.d[2::9223372036854775807]", "12"},
        {".a.b.d[0:0]", ""},
        {".a.b.d[3:1]", ""},
        {".a.b.d[0:100]", "10 11 12 13 14"},
        {".a.b.d[-100:2]", "10 11"},
        {".a.b.d[:-100]", ""},
        {".a.b.d[100:]", ""},
        {".empty[:]", ""},
        {".empty[-1]", ""},
        {".empty[-1:]", ""},
        {".a[:]", ""},
        {".grid[0:2][1]", "2 4"},
        {".grid[:][:]", "1 2 3 4 5"},
    };
    TEST_PATH_CASES(letters, cases);
}

static void everything_in_lists_and_maps(void **state)
{
    (void)state;
    static const test_path_case cases[] = {
        {".list[*].n", "\"p\" \"q\" \"r\""},
        {".list[*].v", "1 2"},
        {".list[ * ].w", "true"},
        {".list[*].missing", ""},
        {".list.*.n", "\"p\" \"q\" \"r\""},
        {".grid[*][*]", "1 2 3 4 5"},
        {".grid[*][1]", "2 4"},
        {".grid[*][-1]", "2 4 5"},
        {".grid.*.*", "1 2 3 4 5"},
        {".a.b[*]", "1 [10,11,12,13,14]"},
        {".a.b.*", "1 [10,11,12,13,14]"},
        {"*.b.c", "1"},
        {"{*.b.c}", "1"},
        {".*.*.c", "1"},
        {".list[*]['n']", "\"p\" \"q\" \"r\""},
        {".empty[*]", ""},
        {".empty.*", ""},
        {".text[*]", ""},
        {".text.*", ""},
        {".none[*]", ""},
    };
    TEST_PATH_CASES(letters, cases);
}

static void arrows_are_the_elements_of_lists(void **state)
{
    (void)state;
    static const char json[] =
        "{\"l\":[{\"m\":[{\"n\":1},{\"n\":2}],\"a-b\":3},{\"m\":[{\"n\":4}]}],"
        "\"a-\":{\"x\":5},\"m\":{\"k\":{\"n\":6}}}";
    static const test_path_case cases[] = {
        {".l->m->n", "1 2 4"},
        {"l->m[0].n", "1 4"},
        {"{$.l->a-b}", "3"},
        {".m->n", "6"},
        {"..m->n", "6 1 2 4"},
        {".l->x", ""},
        {".a-.x", "5"},
        {".l->m->*", "1 2 4"},
        {"l->m", "[{\"n\":1},{\"n\":2}] [{\"n\":4}]"},
        {".l[?(@.a-b>2)].a-b", "3"},
    };
    TEST_PATH_CASES(json, cases);
    ki_path *long_one = test_path("a->a->a->a->a->a->a->a->a->a->a->a->a->a->a->a");
    ki_path_unref(long_one);
}

static void unions_in_the_order_they_are_written(void **state)
{
    (void)state;
    static const test_path_case cases[] = {
        {".a.b['c','d']", "1 [10,11,12,13,14]"},
        {".a.b['d','c']", "[10,11,12,13,14] 1"},
        {".a.b[ 'd' , \"c\" ]", "[10,11,12,13,14] 1"},
        {".a.b['c','c']", "1 1"},
        {".a.b['missing','c']", "1"},
        {".a.b['missing','absent']", ""},
        {".a.b.d[0,2]", "10 12"},
        {".a.b.d[2,0]", "12 10"},
        {".a.b.d[0,-1,9]", "10 14"},
        {".a.b.d[3:,0]", "13 14 10"},
        {".a.b.d[0,1:3,:]", "10 11 12 10 11 12 13 14"},
        {".a.b.d[*,0]", "10 11 12 13 14 10"},
        {".a.b['c',*]", "1 1 [10,11,12,13,14]"},
        {".a.b['c',0]", "1"},
        {".a.b.d['c',0,1:2]", "10 11"},
        {".a.b[0:,'c']", "1"},
        {".list[*]['n','v']", "\"p\" 1 \"q\" 2 \"r\""},
        {".list[0,1]['v','n']", "1 \"p\" 2 \"q\""},
        {".text['a','b']", ""},
        {".text[0,1]", ""},
    };
    TEST_PATH_CASES(letters, cases);
}

static void descents_give_a_value_before_what_is_in_it(void **state)
{
    (void)state;
    static const char nested[] = "{\"x\":{\"x\":{\"y\":1},\"y\":2},\"l\":[{\"x\":3},[{\"x\":4}]],"
                                 "\"y\":5,\"e\":{}}";
    static const test_path_case cases[] = {
        {"..x", "{\"x\":{\"y\":1},\"y\":2} {\"y\":1} 3 4"},
        {"$..x", "{\"x\":{\"y\":1},\"y\":2} {\"y\":1} 3 4"},
        {"{..x}", "{\"x\":{\"y\":1},\"y\":2} {\"y\":1} 3 4"},
        {"...x", "{\"x\":{\"y\":1},\"y\":2} {\"y\":1} 3 4"},
        {"..['x']", "{\"x\":{\"y\":1},\"y\":2} {\"y\":1} 3 4"},
        {"..y", "5 2 1"},
        {".x..y", "2 1"},
        {".l..x", "3 4"},
        {"..[0]", "{\"x\":3} {\"x\":4}"},
        {"..[-1]", "[{\"x\":4}] {\"x\":4}"},
        {".x..*", "{\"y\":1} 2 1"},
        {".x..", "{\"x\":{\"y\":1},\"y\":2} {\"y\":1} 1 2"},
        {".y..", "5"},
        {".e..*", ""},
        {".e..", "{}"},
        {"..x..y", "2 1 1"},
        {"..x.y", "2 1"},
        {"..['x','y'].y", "2 1"},
        {"..missing", ""},
        {".l..*", "{\"x\":3} [{\"x\":4}] 3 {\"x\":4} 4"},
        {".l..[*]", "{\"x\":3} [{\"x\":4}] 3 {\"x\":4} 4"},
        {"..[?(@.x)].x", "3 4"},
        {"..\\y", "5 2 1"},
    };
    TEST_PATH_CASES(nested, cases);
}

/* What kubectl prints for the examples of its reference and for what people ask most, in JSON. */
static void what_kubectl_prints(void **state)
{
    (void)state;
    static const char list[] =
        "{\"kind\":\"List\",\"items\":["
        "{\"kind\":\"Node\",\"metadata\":{\"name\":\"n1\",\"labels\":{\"kubernetes.io/os\":"
        "\"linux\"}},\"spec\":{\"unschedulable\":true},\"status\":{\"capacity\":{\"cpu\":\"4\"},"
        "\"addresses\":[{\"type\":\"InternalIP\",\"address\":\"10.0.0.1\"},{\"type\":"
        "\"Hostname\",\"address\":\"n1\"}],\"conditions\":[{\"type\":\"MemoryPressure\","
        "\"status\":\"False\"},{\"type\":\"Ready\",\"status\":\"True\"}]}},"
        "{\"kind\":\"Node\",\"metadata\":{\"name\":\"n2\",\"labels\":{\"kubernetes.io/os\":"
        "\"linux\"}},\"spec\":{},\"status\":{\"capacity\":{\"cpu\":\"8\"},\"addresses\":[{"
        "\"type\":\"InternalIP\",\"address\":\"10.0.0.2\"}],\"conditions\":[{\"type\":"
        "\"Ready\",\"status\":\"Unknown\"}]}}],"
        "\"users\":[{\"name\":\"me\",\"user\":{}},{\"name\":\"e2e\",\"user\":{\"username\":"
        "\"admin\",\"password\":\"secret\"}}]}";
    static const test_path_case cases[] = {
        {"{.kind}", "\"List\""},
        {"{['kind']}", "\"List\""},
        {"{.items[*].metadata.name}", "\"n1\" \"n2\""},
        {"{.items[0].metadata.name}", "\"n1\""},
        {"{.users[0].name}", "\"me\""},
        {"{.users[-1].name}", "\"e2e\""},
        {"{..name}", "\"n1\" \"n2\" \"me\" \"e2e\""},
        {"{.users[?(@.name==\"e2e\")].user.password}", "\"secret\""},
        {"{.items[*].status.capacity.cpu}", "\"4\" \"8\""},
        {"{.items[*].status.addresses[?(@.type==\"InternalIP\")].address}",
         "\"10.0.0.1\" \"10.0.0.2\""},
        {"{.items[*].status.addresses[*].address}", "\"10.0.0.1\" \"n1\" \"10.0.0.2\""},
        {"{.items[*].status.conditions[?(@.type=='Ready')].status}", "\"True\" \"Unknown\""},
        {"{.items[?(@.spec.unschedulable)].metadata.name}", "\"n1\""},
        {"{.items[?(@.spec.unschedulable==true)].metadata.name}", "\"n1\""},
        {"{.items[?(@..status==\"Unknown\")].metadata.name}", "\"n2\""},
        {"{.items[0].metadata.labels.kubernetes\\.io/os}", "\"linux\""},
        {"{.items[0].metadata.labels['kubernetes\\.io/os']}", "\"linux\""},
        {"{.items[?(@.metadata.labels.kubernetes\\.io/os==\"linux\")].kind}", "\"Node\" \"Node\""},
        {"{.items[0:1].metadata.name}", "\"n1\""},
        {"{.items[1:].metadata.name}", "\"n2\""},
        {"{.items[0,1].metadata.name}", "\"n1\" \"n2\""},
        {"{.items[0].status.conditions[-1:].type}", "\"Ready\""},
        {"{.users[*].user}", "{} {\"username\":\"admin\",\"password\":\"secret\"}"},
        {"{.users[1].user.*}", "\"admin\" \"secret\""},
        {"{.users[1]..password}", "\"secret\""},
    };
    TEST_PATH_CASES(list, cases);
}

static void nothing_leads_nowhere(void **state)
{
    (void)state;
    static const char *const texts[] = {"$", ".a", "[0]", "[*]", "..a", "..", "[?(@)]", "['a',0]"};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        ki_path *path = test_path(texts[i]);
        ki_value none = {0};
        ki_value value = {.len = 42};
        ki_path_iter *iter;
        assert_int_equal(ki_path_first(path, &none, &value), KI_ERR_NOT_FOUND);
        assert_int_equal(value.len, 42);
        assert_int_equal(ki_path_iter_begin(path, &none, &iter), 0);
        assert_int_equal(ki_path_iter_next(iter, &value), 0);
        assert_int_equal(value.len, 42);
        ki_path_iter_end(iter);
        ki_path_unref(path);
    }
    assert_null(ki_path_iter_end(NULL));
}

/* A path may begin at any value, not only at an object. */
static void walks_below_a_value(void **state)
{
    (void)state;
    ki_object *object = test_json(letters);
    ki_value root = ki_object_root(object);
    ki_value grid;
    ki_value value;
    int64_t number;
    assert_int_equal(ki_value_member(&root, ki_str_from("grid"), &grid), 0);
    ki_path *path = test_path("[1][-1]");
    assert_int_equal(ki_path_first(path, &grid, &value), 0);
    assert_int_equal(ki_value_int64(&value, &number), 0);
    assert_int_equal(number, 4);
    ki_path_unref(path);
    ki_object_unref(object);
}

/* `open` and `close` around each other `depth` times, with `middle` inside, as the member "r". */
static ki_object *nested_object(const char *open, const char *middle, const char *close,
                                size_t depth)
{
    ki_buf json;
    ki_object *object = NULL;
    ki_buf_init(&json, NULL, (size_t)32 << 20);
    int r = ki_buf_add_text(&json, "{\"r\":");
    for (size_t i = 0; i < depth; i++) {
        r |= ki_buf_add_text(&json, open);
    }
    r |= ki_buf_add_text(&json, middle);
    for (size_t i = 0; i < depth; i++) {
        r |= ki_buf_add_text(&json, close);
    }
    r |= ki_buf_add_text(&json, "}");
    assert_int_equal(r, 0);
    assert_int_equal(ki_object_from_json(json.data, json.len,
                                         KI_OPTIONS(ki_object_options, .max_depth = 1024), &object,
                                         NULL),
                     0);
    ki_buf_done(&json);
    return object;
}

static int count_values(const ki_object *object, const char *text, size_t *ret_count)
{
    ki_path *path = test_path(text);
    ki_value root = ki_object_root(object);
    ki_path_iter *iter;
    ki_value value;
    size_t count = 0;
    int r;
    assert_int_equal(ki_path_iter_begin(path, &root, &iter), 0);
    while ((r = ki_path_iter_next(iter, &value)) > 0) {
        count++;
    }
    assert_int_equal(ki_path_iter_next(iter, &value), r); /* what failed stays so */
    ki_path_iter_end(iter);
    ki_path_unref(path);
    *ret_count = count;
    return r;
}

static void descents_reach_the_deepest_value(void **state)
{
    (void)state;
    size_t count;
    ki_object *lists = nested_object("[", "{}", "]", 1022);
    assert_int_equal(count_values(lists, "..", &count), 0);
    assert_int_equal(count, 1024);
    assert_int_equal(count_values(lists, "..[0]", &count), 0);
    assert_int_equal(count, 1022);
    ki_object_unref(lists);
    lists = nested_object("[", "{}", "]", 100);
    assert_int_equal(count_values(lists, "..[0]..", &count), 0);
    assert_int_equal(count, 100 * 101 / 2);
    ki_object_unref(lists);
    ki_object *maps = nested_object("{\"a\":", "[1]", "}", 1022);
    assert_int_equal(count_values(maps, "..a", &count), 0);
    assert_int_equal(count, 1022);
    ki_object_unref(maps);
}

static void walks_that_explode_are_stopped(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "..*..*..*..*..*..*",
        "..a..a..a..a..a",
        "..[0]..[0]..[0]..[0]..[0]..[0]..x",
        "$..[*,*,*]..[*,*,*]..[*,*,*]",
    };
    size_t count;
    ki_object *maps = nested_object("{\"a\":[", "", "]}", 200);
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        assert_int_equal(count_values(maps, texts[i], &count), KI_ERR_LIMIT);
        assert_true(count < 2 << 20);
    }
    ki_object_unref(maps);
    /* No descent at all: twenty unions that name one member twice. */
    ki_object *deep = nested_object("{\"a\":", "1", "}", 30);
    ki_buf text;
    ki_buf_init(&text, NULL, 4096);
    assert_int_equal(ki_buf_add_text(&text, ".r"), 0);
    for (size_t i = 0; i < 20; i++) {
        assert_int_equal(ki_buf_add_text(&text, "['a','a']"), 0);
    }
    assert_int_equal(ki_buf_add_text(&text, ".b"), 0);
    assert_int_equal(count_values(deep, ki_buf_text(&text), &count), KI_ERR_LIMIT);
    assert_int_equal(count, 0);
    ki_path *path = test_path(ki_buf_text(&text));
    ki_value value;
    assert_int_equal(ki_object_get(deep, path, &value), KI_ERR_LIMIT);
    ki_path_unref(path);
    ki_buf_done(&text);
    ki_object_unref(deep);
}

/* A string of 1 MiB in JSON. */
static char *long_string(void)
{
    size_t len = (size_t)1 << 20;
    char *text = malloc(len + 3);
    assert_non_null(text);
    memset(text, 'z', len + 2);
    text[0] = '"';
    text[len + 1] = '"';
    text[len + 2] = '\0';
    return text;
}

/* What a walk pays for is the bytes it goes over, not only the values that it sees. */
static void passing_long_values_counts(void **state)
{
    (void)state;
    size_t count;
    char *middle = long_string();
    ki_object *maps = nested_object("{\"a\":", middle, "}", 60);
    assert_int_equal(count_values(maps, "..a", &count), 0); /* sixty times the long string */
    assert_int_equal(count, 60);
    assert_int_equal(count_values(maps, "..a..a", &count), KI_ERR_LIMIT);
    assert_true(count < 60 * 59 / 2);
    ki_object_unref(maps);
    free(middle);
}

/* So do looking for what is not there, where a union or a filter makes a walk look many times. */
static void looking_through_long_values_counts(void **state)
{
    (void)state;
    size_t count;
    char *middle = long_string();
    ki_object *maps = nested_object("{\"a\":", middle, "}", 12);
    assert_int_equal(count_values(maps, ".r['a','a']['a','a']['a','a']['a','a'].none", &count), 0);
    assert_int_equal(count_values(maps,
                                  ".r['a','a']['a','a']['a','a']['a','a']['a','a']"
                                  "['a','a']['a','a']['a','a']['a','a']['a','a'].none",
                                  &count),
                     KI_ERR_LIMIT);
    ki_object_unref(maps);
    ki_buf json;
    ki_buf_init(&json, NULL, (size_t)4 << 20);
    int r = ki_buf_add_text(&json, "{\"l\":[{\"t\":[1");
    for (size_t i = 0; i < 1000; i++) {
        r |= ki_buf_add_text(&json, ",1");
    }
    r |= ki_buf_add_text(&json, "],\"long\":");
    r |= ki_buf_add_text(&json, middle);
    r |= ki_buf_add_text(&json, "}]}");
    assert_int_equal(r, 0);
    ki_object *object = test_json(ki_buf_text(&json));
    assert_int_equal(count_values(object, ".l[?(@.t[*]==2)]", &count), 0);
    assert_int_equal(count_values(object, ".l[?(@.t[*]==@.none)]", &count), KI_ERR_LIMIT);
    ki_object_unref(object);
    ki_buf_done(&json);
    free(middle);
}

static void long_lists_are_walked_to_the_end(void **state)
{
    (void)state;
    enum { ELEMENTS = 200000 };
    ki_buf json;
    ki_buf_init(&json, NULL, (size_t)16 << 20);
    int r = ki_buf_add_text(&json, "{\"l\":[");
    for (size_t i = 0; i < ELEMENTS; i++) {
        r |= ki_buf_add_text(&json, i == 0 ? "{\"a\":1}" : ",{\"a\":1}");
    }
    r |= ki_buf_add_text(&json, "]}");
    assert_int_equal(r, 0);
    ki_object *object = test_json(ki_buf_text(&json));
    size_t count;
    assert_int_equal(count_values(object, ".l[*].a", &count), 0);
    assert_int_equal(count, ELEMENTS);
    assert_int_equal(count_values(object, "..a", &count), 0);
    assert_int_equal(count, ELEMENTS);
    assert_int_equal(count_values(object, ".l[?(@.a==1)]", &count), 0);
    assert_int_equal(count, ELEMENTS);
    assert_int_equal(count_values(object, ".l[-1].a", &count), 0);
    assert_int_equal(count, 1);
    ki_object_unref(object);
    ki_buf_done(&json);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_and_their_spellings),
        cmocka_unit_test(the_root_itself),
        cmocka_unit_test(names_with_every_sort_of_character),
        cmocka_unit_test(indexes_and_slices),
        cmocka_unit_test(everything_in_lists_and_maps),
        cmocka_unit_test(arrows_are_the_elements_of_lists),
        cmocka_unit_test(unions_in_the_order_they_are_written),
        cmocka_unit_test(descents_give_a_value_before_what_is_in_it),
        cmocka_unit_test(what_kubectl_prints),
        cmocka_unit_test(nothing_leads_nowhere),
        cmocka_unit_test(walks_below_a_value),
        cmocka_unit_test(descents_reach_the_deepest_value),
        cmocka_unit_test(walks_that_explode_are_stopped),
        cmocka_unit_test(passing_long_values_counts),
        cmocka_unit_test(looking_through_long_values_counts),
        cmocka_unit_test(long_lists_are_walked_to_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
