#include "tests/support/exported_folder.hpp"

#include "models/weights/safetensors.hpp"
#include "runtime/base/portable_random.hpp"
#include "runtime/storage/byte_sink.hpp"
#include "runtime/storage/durable_folder.hpp"
#include "runtime/storage/file_system.hpp"
#include "runtime/storage/sha256.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <vector>

namespace hydra::test {

namespace {

namespace fs = std::filesystem;

const std::string graph = R"({
 "format": "hydra-graph", "version": 1, "torch": "2.11.0+cu130", "precision": "f32", "loss": null,
 "weights": "WEIGHTS", "checked": [],
 "inputs": [IDS, KEPT],
 "output": {"name": "y", "type": "f32", "shape": ["B", 4, 8], "strides": [32, 8, 1], "gradient": [32, 8, 1]},
 "layers": [
  {"name": "table", "signature": "0000000000000001", "inputs": [IDS, KEPT], "outputs": [EMBEDDED, KEPT],
   "parameters": [{"value": "p:table", "name": "table", "type": "f32", "shape": [8, 6], "strides": [6, 1], "trained": true}],
   "constants": [],
   "calls": [{"op": "aten::embedding", "overload": "", "args": [{"v": "p:table"}, {"v": "ids"}, {"i": -1}, {"b": false},
     {"b": false}], "out": ["e"]}]},
  {"name": "mix", "signature": "0000000000000002", "inputs": [EMBEDDED, KEPT], "outputs": [EMBEDDED, DROPPED, KEPT],
   "parameters": [{"value": "p:mix", "name": "mix.weight", "type": "f32", "shape": [6, 6], "strides": [1, 6], "trained": true}],
   "constants": [{"value": "c:shift", "name": "shift", "type": "f32", "shape": [6], "strides": [1]}],
   "calls": [{"op": "aten::linear", "overload": "", "args": [{"v": "e"}, {"v": "p:mix"}, {"v": "c:shift"}], "out": ["l"]},
    {"op": "aten::tanh", "overload": "", "args": [{"v": "l"}], "out": ["t"]},
    {"op": "hydra::dropout", "overload": "", "args": [{"v": "t"}, {"f": 0.25}, {"i": 7}], "out": ["d0"]},
    {"op": "aten::transpose", "overload": "int", "args": [{"v": "d0"}, {"i": 1}, {"i": 2}], "out": ["d1"]},
    {"op": "aten::clone", "overload": "", "args": [{"v": "d1"}, {"mf": "contiguous_format"}], "out": ["d2"]},
    {"op": "aten::transpose", "overload": "int", "args": [{"v": "d2"}, {"i": 1}, {"i": 2}], "out": ["d"]}]},
  {"name": "join", "signature": "0000000000000003", "inputs": [EMBEDDED, DROPPED, KEPT], "outputs": [JOINED, KEPT],
   "parameters": [{"value": "p:table", "name": "join.table", "type": "f32", "shape": [8, 6], "strides": [6, 1], "trained": true,
    "tied_to": "table"}],
   "constants": [],
   "calls": [{"op": "aten::linear", "overload": "", "args": [{"v": "d"}, {"v": "p:table"}, null], "out": ["scores"]},
    {"op": "aten::softmax", "overload": "int", "args": [{"v": "scores"}, {"i": -1}, null], "out": ["weights"]},
    {"op": "aten::matmul", "overload": "", "args": [{"v": "weights"}, {"v": "p:table"}], "out": ["m"]},
    {"op": "aten::add", "overload": "Tensor", "args": [{"v": "e"}, {"v": "m"}, {"i": 1}], "out": ["h"]}]},
  {"name": "head", "signature": "0000000000000004", "inputs": [JOINED, KEPT],
   "outputs": [{"name": "y", "type": "f32", "shape": ["B", 4, 8], "strides": [32, 8, 1], "gradient": [32, 8, 1]}],
   "parameters": [{"value": "p:table", "name": "head.table", "type": "f32", "shape": [8, 6], "strides": [6, 1], "trained": true,
    "tied_to": "table"}],
   "constants": [],
   "calls": [{"op": "aten::linear", "overload": "", "args": [{"v": "h"}, {"v": "p:table"}, null], "out": ["logits"]},
    {"op": "aten::view", "overload": "", "args": [{"v": "kept"}, [{"e": "B"}, {"i": 1}, {"i": 1}]], "out": ["column"]},
    {"op": "aten::mul", "overload": "Tensor", "args": [{"v": "logits"}, {"v": "column"}], "out": ["y"]}]}],
 "names": {"table": ["table", "head.weight"], "mix.weight": ["mix.weight"], "shift": ["shift"]}
})";

constexpr const char* parts[][2]{
    {"IDS", R"({"name": "ids", "type": "i64", "shape": ["B", 4], "strides": [4, 1], "gradient": null})"},
    {"KEPT", R"({"name": "kept", "type": "bool", "shape": ["B"], "strides": [1], "gradient": null})"},
    {"EMBEDDED",
     R"({"name": "e", "type": "f32", "shape": ["B", 4, 6], "strides": [24, 6, 1], "gradient": [24, 6, 1]})"},
    {"DROPPED", R"({"name": "d", "type": "f32", "shape": ["B", 4, 6], "strides": [24, 1, 4], "gradient": [24, 1, 4]})"},
    {"JOINED", R"({"name": "h", "type": "f32", "shape": ["B", 4, 6], "strides": [24, 6, 1], "gradient": [24, 6, 1]})"}};

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size()))
    text.replace(at, what.size(), by);
  return text;
}

std::vector<float> numbers(std::size_t n, double scale) {
  std::vector<float> all(n);
  for (std::size_t i = 0; i < n; ++i) all[i] = static_cast<float>(0.5 * std::sin(scale * static_cast<double>(i + 1)));
  return all;
}

template <class Value>
std::span<const std::byte> bytes_of(const std::vector<Value>& values) {
  return std::as_bytes(std::span{values});
}

void write(const temporary_folder& folder, const char* name, const std::vector<named_tensor>& tensors) {
  durable_folder into{posix_file_system(), folder.path() / "made"};
  into.write(name, [&](byte_sink& out) { write_safetensors(out, tensors); });
  into.commit();
  fs::rename(folder.path() / "made" / name, folder.path() / name);
  fs::remove_all(folder.path() / "made");
}

std::string digest_of(const fs::path& file) {
  std::ifstream in{file, std::ios::binary};
  const std::string text{std::istreambuf_iterator<char>{in}, {}};
  sha256 sum;
  sum.add(std::as_bytes(std::span{text}));
  return sum.finish();
}

void write_samples(const temporary_folder& folder, const char* name, std::int64_t samples, std::uint64_t seed) {
  portable_random random{seed};
  const auto draw = [&](std::int64_t below) {
    return static_cast<std::int64_t>(random.share() * static_cast<double>(below));
  };
  std::vector<std::int64_t> ids, target;
  std::vector<std::uint8_t> kept;
  for (std::int64_t i = 0; i < samples; ++i) {
    kept.push_back(draw(4) > 0);
    for (int t = 0; t < 4; ++t) {
      ids.push_back(draw(8));
      target.push_back(draw(5) > 0 ? (ids.back() * 3 + t) % 8 : -100);
    }
  }
  write(folder, name,
        {{"ids", {stored_type::i64, {samples, 4}, bytes_of(ids)}},
         {"target", {stored_type::i64, {samples, 4}, bytes_of(target)}},
         {"kept", {stored_type::boolean, {samples}, bytes_of(kept)}}});
}

}  // namespace

exported_folder::exported_folder() {
  const auto table = numbers(48, 0.7), mix = numbers(36, 1.3), shift = numbers(6, 0.4);
  write(folder_, "model.safetensors",
        {{"table", {stored_type::f32, {8, 6}, bytes_of(table)}},
         {"mix.weight", {stored_type::f32, {6, 6}, bytes_of(mix)}},
         {"shift", {stored_type::f32, {6}, bytes_of(shift)}}});
  std::string text = replaced(graph, "WEIGHTS", digest_of(path() / "model.safetensors"));
  for (const auto& [name, part] : parts) text = replaced(text, name, part);
  folder_.write("graph.json", text);
  write_samples(folder_, "train.safetensors", 24, 1);
  write_samples(folder_, "validation.safetensors", 8, 2);
}

tensor_files exported_folder::data() const {
  return {.train = path() / "train.safetensors", .validation = path() / "validation.safetensors"};
}

}  // namespace hydra::test
