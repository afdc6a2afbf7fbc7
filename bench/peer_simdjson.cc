/* SPDX-License-Identifier: Apache-2.0 */
/* simdjson reads text that is followed by padding in place; the texts here have it, so it copies
 * nothing. Its parser keeps its buffers: the reused parser is its best case, the fresh one is what
 * keeping many documents costs. */
#include <memory>
#include <simdjson.h>

#include "peers.h"
#include "support/bench.h"

static_assert(PEER_PADDING >= simdjson::SIMDJSON_PADDING, "texts are padded for simdjson");

using namespace simdjson;

static dom::parser &reused_dom()
{
    static dom::parser parser;
    return parser;
}

static void *parse_dom(const char *text, size_t len)
{
    dom::element root;
    if (reused_dom().parse(text, len, false).get(root) != SUCCESS || !root.is_object()) {
        return nullptr;
    }
    return &reused_dom();
}

static void drop_nothing(void *)
{
}

static void *parse_dom_new(const char *text, size_t len)
{
    auto parser = std::make_unique<dom::parser>();
    dom::element root;
    if (parser->parse(text, len, false).get(root) != SUCCESS) {
        return nullptr;
    }
    return parser.release();
}

static void drop_dom_new(void *parser)
{
    delete static_cast<dom::parser *>(parser);
}

/* Reads all there is under `value`. On-demand parsing checks only what is read. The text is our
 * own and ten levels deep: recursion is safe here. */
static size_t walk(ondemand::value value)
{
    size_t sum = 0;
    switch (value.type().value()) {
    case ondemand::json_type::object:
        for (auto field : value.get_object()) {
            sum += field.unescaped_key().value().size();
            sum += walk(field.value());
        }
        return sum;
    case ondemand::json_type::array:
        for (auto element : value.get_array()) {
            sum += walk(element.value());
        }
        return sum;
    case ondemand::json_type::string:
        return value.get_string().value().size();
    case ondemand::json_type::number:
        return static_cast<size_t>(value.get_number().value().as_double());
    case ondemand::json_type::boolean:
        return value.get_bool().value() ? 1 : 0;
    case ondemand::json_type::null:
        return value.is_null() ? 1 : 0;
    }
    return sum;
}

static void *parse_ondemand(const char *text, size_t len)
{
    static ondemand::parser parser;
    try {
        ondemand::document document = parser.iterate(text, len, len + PEER_PADDING);
        ondemand::object root = document.get_object();
        size_t sum = 0;
        for (auto field : root) {
            sum += field.unescaped_key().value().size();
            sum += walk(field.value());
        }
        bench_use(&sum);
    } catch (const simdjson_error &) {
        return nullptr;
    }
    return &parser;
}

const peer peer_simdjson_dom = {"simdjson dom", parse_dom, drop_nothing, false,
                                "one parser used again; keeps one document at a time"};
const peer peer_simdjson_dom_new = {"simdjson dom kept", parse_dom_new, drop_dom_new, true,
                                    "a parser for each document"};
const peer peer_simdjson_ondemand = {"simdjson ondemand", parse_ondemand, drop_nothing, false,
                                     "walks every member and value; builds nothing"};
