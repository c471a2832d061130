#include "models/exported/graph.hpp"

#include "models/exported/check_graph.hpp"
#include "models/exported/layer_program.hpp"
#include "models/exported/read_graph.hpp"
#include "runtime/base/fault.hpp"
#include "runtime/base/portable_random.hpp"
#include "tests/models/exported/small_graph.hpp"
#include "tests/support/depth.hpp"

#include <catch2/catch.hpp>

#include <string>

using namespace hydra;
using namespace hydra::test;
using Catch::Contains;

namespace {

/// As a model is read: form, agreement, operations.
void prepare(const std::string& text) {
  const exported_graph g = read_graph(text);
  check_graph(g);
  for (const graph_layer& layer : g.layers) layer_program{layer};
}

std::string refusal(const std::string& part, const std::string& by) {
  try {
    prepare(bent_graph(part, by));
  } catch (const fault_error& e) {
    CHECK(e.what_happened().code == fault_code::bad_input);
    return e.what();
  }
  return "accepted";
}

/// A byte, or a part of the file, is replaced, removed or repeated, up to three times.
std::string mutated(std::uint64_t seed) {
  portable_random random{seed};
  std::string text = small_graph;
  const auto place = [&] { return random.whole(0, static_cast<std::uint32_t>(text.size() - 1)); };
  for (std::uint32_t n = random.whole(1, 3); n > 0; --n) {
    const std::size_t at = place(), length = random.whole(1, 12);
    switch (random.whole(0, 3)) {
      case 0:
        text[at] = static_cast<char>(random.whole(0, 255));
        break;
      case 1:
        text.erase(at, length);
        break;
      case 2:
        text.insert(place(), text.substr(at, length * 10));
        break;
      default:
        text.replace(at, 1, std::to_string(static_cast<std::int64_t>(random.whole(0, ~0u)) << random.whole(0, 31)));
    }
  }
  return text;
}

/// How many were accepted; anything but fault_error fails the test.
template <class Seeds>
std::size_t accepted(const Seeds& some) {
  std::size_t n = 0;
  for (const std::uint64_t seed : some) {
    try {
      prepare(mutated(seed));
      ++n;
    } catch (const fault_error&) {
    } catch (const std::exception& e) {
      FAIL("seed " << seed << ": " << e.what());
    }
  }
  return n;
}

}  // namespace

TEST_CASE("a graph is read", "[exported]") {
  prepare(small_graph);
  const exported_graph g = read_graph(small_graph);
  CHECK(g.layers.size() == 2);
  CHECK(g.layers[0].outputs[0].gradient->size() == 2);
  CHECK(g.layers[0].parameters[1].averaging == 0.25);
  CHECK(g.layers[1].calls[1].returns_list);
  CHECK_FALSE(g.layers[1].calls[2].has_gradient);
  CHECK((g.names.at("v") == std::vector<std::string>{"v", "head.v"}));
}

TEST_CASE("what is not in the format is refused, with its place", "[exported]") {
  CHECK_THAT(refusal("\"version\": 1", "\"version\": 2"), Contains("version: is 2; this Hydra reads 1"));
  CHECK_THAT(refusal("\"checked\": [4", "\"checked\": [true"), Contains("checked[0]: is not an integer"));
  CHECK_THAT(refusal("\"shape\": [\"B\", 2]", "\"shape\": [\"C\", 2]"), Contains("inputs[0]: shape[0]: is not a size"));
  CHECK_THAT(refusal("\"list\": true", "\"lost\": true"),
             Contains("layers[1] (head): calls[1] (aten::split): there is no field \"lost\""));
  CHECK_THAT(refusal("{\"dev\": true}", "{\"dev\": 1}"), Contains("is neither true nor false"));
  CHECK_THAT(refusal("\"B\", 2]", "[\"size\", \"x\", 0], 2]"), Contains("depends on data"));
  CHECK_THAT(refusal("hydra-graph", "hydra-gruph"), Contains("format: is not \"hydra-graph\""));
  CHECK_THAT(refusal(" \"names\"", "\"nomes\""), Contains("\"names\" is missing"));
}

TEST_CASE("a graph whose fields do not agree is refused", "[exported]") {
  CHECK_THAT(refusal("\"out\": [\"linear\"]", "\"out\": [\"lunear\"]"), Contains("no value \"linear\" at this place"));
  CHECK_THAT(refusal("\"out\": [\"normed\"]", "\"out\": [\"linear\"]"), Contains("\"linear\" is made twice"));
  CHECK_THAT(refusal("\"inputs\": [{\"name\": \"h\", \"type\": \"f32\", \"shape\": [\"B\", 3]",
                     "\"inputs\": [{\"name\": \"h\", \"type\": \"f32\", \"shape\": [\"B\", 4]"),
             Contains("layers[1] (head): its inputs are not the outputs of the layer before"));
  CHECK_THAT(
      refusal("\"averaging\": 0.25},\n    {\"value\": \"p:var\"", "\"averaging\": 0.5},\n    {\"value\": \"p:var\""),
      Contains("not a statistic of a batch norm of that momentum"));
  CHECK_THAT(refusal("{\"i\": 0}], \"out\": [\"dropped\"]", "{\"i\": -1}], \"out\": [\"dropped\"]"),
             Contains("no site of its own"));
  CHECK_THAT(refusal("\"name\": \"v\", \"type\"", "\"name\": \"w\", \"type\""), Contains("two parameters \"w\""));
  CHECK_THAT(refusal("\"strides\": [2, 1], \"trained\"", "\"strides\": [4, 1], \"trained\""),
             Contains("strides with gaps"));
}

TEST_CASE("operations that a graph may not call are refused", "[exported]") {
  CHECK_THAT(refusal("aten::relu_", "aten::celery"), Contains("there is no operation aten::celery"));
  CHECK_THAT(refusal("\"aten::relu_\", \"overload\": \"\", \"args\": [{\"v\": \"shifted\"}]",
                     "\"aten::relu_\", \"overload\": \"\", \"args\": [{\"v\": \"c:shift\"}]"),
             Contains("writes into \"c:shift\""));
  CHECK_THAT(refusal("\"aten::relu_\", \"overload\": \"\", \"args\": [{\"v\": \"shifted\"}]",
                     "\"aten::bernoulli\", \"overload\": \"\", \"args\": [{\"v\": \"shifted\"}, null]"),
             Contains("draws random numbers"));
  CHECK_THAT(refusal("{\"v\": \"c:shift\"}, {\"i\": 1}]", "{\"v\": \"c:shift\"}, {\"s\": \"1\"}]"),
             Contains("argument \"alpha\""));
  CHECK_THAT(refusal("{\"f\": 0.5}, {\"i\": 0}", "{\"f\": 1.5}, {\"i\": 0}"), Contains("drops a share of 1.5"));
  CHECK_THAT(refusal("\"out\": [\"front\", null], \"list\": true", "\"out\": [\"front\", null]"),
             Contains("other results"));
}

TEST_CASE("mutated graphs are refused, or are graphs", "[exported]") {
  const auto some = seeds(100'000);
  const std::size_t n = accepted(some);
  CHECK(n > some.size() / 1000);
  CHECK(n < some.size() / 2);
}
