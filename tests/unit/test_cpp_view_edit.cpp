/* SPDX-License-Identifier: Apache-2.0 */
/* Setters of typed views in C++: every type of field, list and map, of custom resources, whose
 * headers gen-views writes, and of built-in kinds. Each test compares the whole object, so that a
 * setter that changes more than its field fails. test_view_edit_golden.c and test_crd_views.c check
 * the C functions below them for every field. */
#include <cstdio>
#include <cstdlib>
#include <string>
#include <type_traits>

#include <kinformer/api/apps_v1.hpp>
#include <kinformer/api/coordination_v1.hpp>
#include <kinformer/api/core_v1.hpp>
#include <kinformer/kinformer.hpp>

#include "every-shape.h"
#include "support/check.hpp"

namespace v1 = ki::core_v1;
namespace shapes = ki::shapes_example_com_v1;
using std::string_view;

static void check_text(const std::string &text, const std::string &expected, int line)
{
    if (text != expected) {
        std::fprintf(stderr, "%s:%d: %s\n  is not %s\n", __FILE__, line, text.c_str(),
                     expected.c_str());
        std::exit(1);
    }
}
#define CHECK_TEXT(text, expected) check_text(text, expected, __LINE__)
#define CHECK_JSON(edit, expected) check_text((edit).object().json(), expected, __LINE__)

/* What the spec of a new Shape must be. */
static void check_spec(const ki::edit &edit, const std::string &expected, int line)
{
    check_text(edit.object().json(),
               R"({"apiVersion":"shapes.example.com/v1","kind":"Shape","metadata":{"name":"a"},)"
               R"("spec":)" +
                   expected + "}",
               line);
}
#define CHECK_SPEC(edit, expected) check_spec(edit, expected, __LINE__)

static const ki_timestamp moment = {1700000000, 125000000};

/* ---- fields ---- */

static void fields_of_every_type_are_set()
{
    ki::edit edit;
    auto spec = shapes::Shape::edit_new(edit, "", "a").spec();
    spec.set_text("a\"b").set_flag(false).set_small(-2).set_large(int64_t{1} << 40);
    spec.set_ratio(0.5).set_bytes(string_view("\0\1", 2)).set_time(moment);
    spec.set_quantity("250m").set_either(80).set_value_json("[1,{}]");
    CHECK_SPEC(edit, R"({"text":"a\"b","flag":false,"small":-2,"large":1099511627776,"ratio":0.5,)"
                     R"("bytes":"AAE=","time":"2023-11-14T22:13:20Z","quantity":"250m",)"
                     R"("either":80,"value":[1,{}]})");
    const auto made = edit.object();
    const auto read = shapes::Shape::of(made).spec();
    CHECK(read.text() == "a\"b" && !read.flag() && read.small() == -2);
    CHECK(read.large() == int64_t{1} << 40 && read.ratio() == 0.5);
    CHECK(read.bytes().string() == string_view("\0\1", 2) && read.time().seconds == moment.seconds);
    CHECK(read.quantity().milli_or(0) == 250 && read.either().number == 80);

    /* Once more, from what a view reads, and of other types. */
    ki::edit copy;
    auto again = shapes::Shape::edit_new(copy, "", "a").spec();
    again.set_text(read.text()).set_quantity(read.quantity()).set_either(read.either());
    again.set_time(read.time()).set_value(read.value().at("value"));
    CHECK_SPEC(copy, R"({"text":"a\"b","quantity":"250m","either":80,)"
                     R"("time":"2023-11-14T22:13:20Z","value":[1,{}]})");
    again.remove_text().remove_time().remove_either().remove_value().remove_flag();
    again.set_either("25%").set_text(string_view("x\0y", 3));
    CHECK_SPEC(copy, R"({"quantity":"250m","either":"25%","text":"x\u0000y"})");
}

static void names_that_cpp_does_not_allow_are_set()
{
    ki::edit edit;
    auto spec = shapes::Shape::edit_new(edit, "", "a").spec();
    spec.set_class("c").set_default("d").set_namespace("n").set_ref("r").set_x3scale(3);
    spec.set_a_b("1").set_a_b_2(true).set_a_b_3(3).set_errno(1).set_list_("l").set_when_(moment);
    spec.with_space().append("x");
    spec.x_y().set_z("z");
    CHECK_SPEC(edit,
               R"({"class":"c","default":"d","namespace":"n","$ref":"r","3scale":3,"a_b":"1",)"
               R"("a-b":true,"a.b":3,"errno":1,"list":"l","when:":"2023-11-14T22:13:20Z",)"
               R"("with space":["x"],"x/y":{"z":"eg=="}})");
}

/* ---- lists and maps ---- */

static void lists_of_every_type_are_written()
{
    ki::edit edit;
    auto spec = shapes::Shape::edit_new(edit, "", "a").spec();
    spec.texts().append("x").append(std::string("y"));
    spec.numbers().append(1).append(int64_t{-2});
    spec.flags().append(true);
    spec.ratios().append(0.25);
    spec.manyBytes().append("z");
    spec.quantities().append("1Gi");
    spec.times().append(moment);
    spec.eithers().append(ki_int_or_string_int(7)).append(ki_int_or_string_text("7%"));
    spec.listOfLists().append().append("inner");
    spec.listOfMaps().append().set("k", "v");
    spec.objects().append().set_a("first");
    spec.objects().append().set_a("second");
    spec.objectLists().append().append().set_c(true);
    spec.listsOfObjectMaps().append()["key"].set_d("d");
    CHECK_SPEC(edit,
               R"({"texts":["x","y"],"numbers":[1,-2],"flags":[true],"ratios":[0.25],)"
               R"("manyBytes":["eg=="],"quantities":["1Gi"],"times":["2023-11-14T22:13:20Z"],)"
               R"("eithers":[7,"7%"],"listOfLists":[["inner"]],"listOfMaps":[{"k":"v"}],)"
               R"("objects":[{"a":"first"},{"a":"second"}],"objectLists":[[{"c":true}]],)"
               R"("listsOfObjectMaps":[{"key":{"d":"d"}}]})");
    const auto made = edit.object();
    ki::edit changes(made);
    auto again = shapes::Shape::edit_of(changes).spec();
    again.texts().remove(0);
    again.objects()[1].set_a("third");
    again.objects().remove(0);
    again.set_numbers(ki::view_list<ki_int64>());
    CHECK(changes.try_object().error().code() == KI_ERR_INVALID); /* a view of nothing */
    ki::edit better(made);
    again = shapes::Shape::edit_of(better).spec();
    again.texts().remove(0);
    again.objects()[1].set_a("third");
    again.objects().remove(0);
    CHECK_TEXT(better.merge_patch(), R"({"spec":{"texts":["y"],"objects":[{"a":"third"}]}})");
}

static void maps_of_every_type_are_written()
{
    ki::edit edit;
    auto spec = shapes::Shape::edit_new(edit, "", "a").spec();
    spec.textMap().set("a", "x").set("b", "y").remove("a");
    spec.numberMap().set("a.b/c", 1);
    spec.flagMap().set("f", false);
    spec.ratioMap().set("r", 0.5);
    spec.bytesMap().set("b", string_view("\0", 1));
    spec.quantityMap().set("cpu", "1");
    spec.timeMap().set("t", moment);
    spec.eitherMap().set("e", ki_int_or_string_text("http"));
    spec.mapOfLists()["l"].append("x");
    spec.mapOfMaps()["m"].set("k", "v");
    spec.objectMap()["o"].set_b(1);
    spec.objectMap()["p"].set_b(2);
    spec.objectMap().remove("o");
    spec.mapOfObjectLists()["q"].append().set_e(moment);
    spec.mapOfObjectMaps()["r"]["s"].set_f(1.5);
    CHECK_SPEC(edit,
               R"({"textMap":{"b":"y"},"numberMap":{"a.b/c":1},"flagMap":{"f":false},)"
               R"("ratioMap":{"r":0.5},"bytesMap":{"b":"AA=="},"quantityMap":{"cpu":"1"},)"
               R"("timeMap":{"t":"2023-11-14T22:13:20Z"},"eitherMap":{"e":"http"},)"
               R"("mapOfLists":{"l":["x"]},"mapOfMaps":{"m":{"k":"v"}},"objectMap":{"p":{"b":2}},)"
               R"("mapOfObjectLists":{"q":[{"e":"2023-11-14T22:13:20Z"}]},)"
               R"("mapOfObjectMaps":{"r":{"s":{"f":1.5}}}})");
}

static void elements_are_found_by_key()
{
    ki::edit edit;
    auto spec = shapes::Shape::edit_new(edit, "", "a").spec();
    spec.keyed_by_default("one").set_text("1");
    spec.keyed_by_default("two").set_text("2");
    spec.keyed_by_default("one").set_text("3");
    CHECK_SPEC(edit, R"({"keyed":[{"default":"one","text":"3"},{"default":"two","text":"2"}]})");
}

/* ---- built-in kinds ---- */

static void built_in_kinds_are_changed()
{
    const auto deployment = ki::object::from_json(
        R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":)"
        R"({"name":"web","namespace":"shop",)"
        R"("labels":{"app":"web"}},"spec":{"replicas":1,"paused":true,"template":{"spec":)"
        R"({"containers":[{"name":"side","image":"side:1"},{"name":"web","image":"web:6"}]}}}})");
    ki::edit edit(deployment);
    auto root = ki::apps_v1::Deployment::edit_of(edit);
    root.spec().set_replicas(3).remove_paused();
    root.spec().template_().spec().containers_by_name("web").set_image("web:7");
    root.metadata().labels().set("tier", "front").remove("app");
    CHECK_TEXT(edit.merge_patch(),
               R"({"metadata":{"labels":{"tier":"front","app":null}},"spec":{"replicas":3,)"
               R"("template":{"spec":{"containers":[{"name":"side","image":"side:1"},)"
               R"({"name":"web","image":"web:7"}]}},"paused":null}})");

    /* Messages, lists and maps of views are copied. */
    const auto view = ki::apps_v1::Deployment::of(deployment);
    ki::edit pod;
    auto made = v1::Pod::edit_new(pod, "shop", "copy");
    made.metadata().set_labels(view.metadata().labels());
    made.set_spec(view.spec().template_().spec());
    CHECK_JSON(pod, R"({"apiVersion":"v1","kind":"Pod","metadata":{"namespace":"shop",)"
                    R"("name":"copy","labels":{"app":"web"}},"spec":{"containers":)"
                    R"([{"name":"side","image":"side:1"},{"name":"web","image":"web:6"}]}})");
}

static void micro_times_keep_microseconds()
{
    ki::edit edit;
    auto spec = ki::coordination_v1::Lease::edit_new(edit, "a", "b").spec();
    spec.set_renewTime(moment).set_leaseDurationSeconds(15);
    CHECK_JSON(edit, R"({"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":)"
                     R"({"namespace":"a","name":"b"},"spec":{"renewTime":)"
                     R"("2023-11-14T22:13:20.125000Z","leaseDurationSeconds":15}})");
}

/* ---- mistakes ---- */

/* What does not compile: a setter with an argument of another type. */
template <typename Edit, typename V, typename = void> struct takes_flag : std::false_type {
};
template <typename Edit, typename V>
struct takes_flag<Edit, V, decltype((void)std::declval<Edit>().set_flag(std::declval<V>()))>
    : std::true_type {
};
template <typename Edit, typename V, typename = void> struct takes_small : std::false_type {
};
template <typename Edit, typename V>
struct takes_small<Edit, V, decltype((void)std::declval<Edit>().set_small(std::declval<V>()))>
    : std::true_type {
};
using spec_edit = ki::typed_edit<ki_shapes_example_com_v1_ShapeSpec>;
static_assert(takes_flag<spec_edit, bool>::value, "");
static_assert(!takes_flag<spec_edit, const char *>::value, "a string is not a boolean");
static_assert(!takes_flag<spec_edit, int>::value, "a number is not a boolean");
static_assert(takes_small<spec_edit, int>::value && takes_small<spec_edit, short>::value, "");
static_assert(!takes_small<spec_edit, int64_t>::value, "it may not fit");
static_assert(!takes_small<spec_edit, bool>::value, "a boolean is not a number");

static void the_first_failure_is_kept()
{
    ki::edit edit;
    auto spec = shapes::Shape::edit_new(edit, "", "a").spec();
    spec.set_quantity("many").set_text("after");
    CHECK(edit.try_object().error().code() == KI_ERR_INVALID);
    const auto pod = ki::object::from_json(
        R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"},"spec":{}})");
    ki::edit wrong(pod);
    shapes::Shape::edit_of(wrong).spec().set_text("x");
    CHECK(wrong.try_object().error().code() == KI_ERR_TYPE);
    ki::edit gone(pod);
    auto labels = v1::Pod::edit_of(gone).metadata().labels();
    v1::Pod::edit_of(gone).metadata().remove_labels();
    labels.set("a", "b");
    CHECK(gone.try_object().error().code() == KI_ERR_NOT_FOUND);
}

int main()
{
    void (*const tests[])() = {
        fields_of_every_type_are_set,    names_that_cpp_does_not_allow_are_set,
        lists_of_every_type_are_written, maps_of_every_type_are_written,
        elements_are_found_by_key,       built_in_kinds_are_changed,
        micro_times_keep_microseconds,   the_first_failure_is_kept,
    };
    for (auto *test : tests) {
        test();
    }
    std::printf("%zu passed, 0 failed\n", std::size(tests));
    return 0;
}
