#include "models/exported/exported_chain.hpp"

#include "models/data/data_catalog.hpp"
#include "models/exported/boundary.hpp"
#include "models/exported/linear_uses.hpp"
#include "models/exported/module_loss.hpp"
#include "models/families/exported_folder.hpp"
#include "models/families/hub_folder.hpp"
#include "models/weights/hub_export.hpp"
#include "models/weights/safetensors_file.hpp"
#include "runtime/base/fault.hpp"
#include "runtime/base/portable_random.hpp"
#include "runtime/base/text_file.hpp"
#include "runtime/storage/durable_folder.hpp"
#include "runtime/storage/file_system.hpp"
#include "tests/support/exported_folder.hpp"

#include <ATen/Functions.h>

#include <catch2/catch.hpp>

#include <fstream>

using namespace hydra;
using namespace hydra::test;
using Catch::Contains;

namespace {

std::shared_ptr<const data_source> data_for(const exported_folder& folder, const chain_description& d) {
  return open_data({folder.data(), true}, d.wants());
}

chain chain_of(const exported_folder& folder) {
  const chain_description d = describe_from(folder.path(), {});
  return d.build(*data_for(folder, d));
}

}  // namespace

TEST_CASE("an exported folder is a chain whose boundaries are bits", "[exported]") {
  const exported_folder folder;
  const chain_description d = describe_from(folder.path(), {});
  CHECK(d.inputs == std::vector<std::string>{"ids", "kept"});
  const chain c = chain_of(folder);
  CHECK_NOTHROW(c.validate());
  CHECK(c.size() == 4);
  CHECK(c.sample_input() == tensor_spec{{5}, element::bits});  // 4 ids and a bool
  CHECK(c.parameter_count() == 48 + 36);
  CHECK(c.objective().name() == "cross-entropy");
  const auto outputs = c.outputs(3);
  CHECK(outputs[0] == tensor_spec{{3, 32}, element::bits});  // 288 + 3 bytes, padded to 512 + 256
  CHECK(outputs[3] == tensor_spec{{3, 4, 8}, element::f32});
  CHECK(c.outputs(1)[0] == tensor_spec{{1, 64}, element::bits});
  CHECK(c.at(1).body->depends_on_gradients());
}

TEST_CASE("weights that an adapter may add to are those of linear maps that are used once", "[exported]") {
  const exported_folder folder;
  const chain c = chain_of(folder);
  CHECK(c.parameters(1)[0].linear == linear_weight::out_in);
  CHECK(c.parameters(2)[0].linear == linear_weight::none);  // also a factor of a product
  CHECK(c.parameters(0)[0].linear == linear_weight::none);
}

TEST_CASE("what decides an exported model is decided when it is exported", "[exported]") {
  const exported_folder folder;
  CHECK_THROWS_WITH(describe_from(folder.path(), {.context = 8}),
                    Contains("context was decided when the model was exported"));
  CHECK_THROWS_WITH(describe_from(folder.path(), {.dropout = 0}), Contains("dropout was decided"));
  CHECK_THROWS_WITH(describe_from(folder.path(), {.head = "masked-lm"}), Contains("head was decided"));
  const auto other = open_data({synthetic_classes{.features = 3}, true}, 0);
  CHECK_THROWS_WITH(
      describe_from(folder.path(), {}).build(*other),
      Contains("a sample for the exported model is ids I64[4], kept BOOL[], and one of") && Contains("f32[3]"));
}

TEST_CASE("whatever is in the files of an exported folder, it is refused or a chain", "[exported]") {
  const exported_folder folder;
  const auto data = data_for(folder, describe_from(folder.path(), {}));
  const std::string graph = read_text(folder.path() / "graph.json", text_kind::record),
                    weights = read_text(folder.path() / "model.safetensors", text_kind::record);
  portable_random random{1};
  std::size_t accepted = 0;
  for (int i = 0; i < 3000; ++i) {
    std::string changed = i % 3 == 0 ? weights : graph;
    for (std::uint32_t n = random.whole(1, 2); n > 0; --n)
      changed[random.whole(0, static_cast<std::uint32_t>(changed.size() - 1))] =
          "0123456789,[]{}\"B"[random.whole(0, 16)];
    std::ofstream{folder.path() / "graph.json"} << (i % 3 == 0 ? graph : changed);
    std::ofstream{folder.path() / "model.safetensors", std::ios::binary} << (i % 3 == 0 ? changed : weights);
    try {
      const chain c = describe_from(folder.path(), {}).build(*data);
      c.validate();
      c.outputs(3);
      ++accepted;
    } catch (const fault_error&) {
    }
  }
  CHECK(accepted > 30);
  CHECK(accepted < 2500);
}

TEST_CASE("weights that are not those of the graph are refused", "[exported]") {
  const exported_folder folder;
  const chain c = chain_of(folder);
  std::fstream file{folder.path() / "model.safetensors", std::ios::in | std::ios::out | std::ios::binary};
  file.seekp(-1, std::ios::end);
  file.put('!');
  file.close();
  std::vector<float> values(36);
  const chain changed = chain_of(folder);
  try {
    changed.weights()->read(c.parameters(1)[0], values);
    FAIL("they were read");
  } catch (const fault_error& e) {
    CHECK_THAT(e.what(), Contains("is not the file that graph.json was written with"));
    CHECK(e.what_happened().code == fault_code::bad_input);
  }
}

TEST_CASE("an exported model is written with the names of its module's state", "[exported]") {
  const exported_folder folder;
  const temporary_folder out;
  const std::vector<float> trained(48, 0.5F);
  durable_folder into{posix_file_system(), out.path() / "x"};
  write_hub_files(into, chain_of(folder), [&](const parameter_spec& p) {
    return stored_tensor{stored_type::f32, p.shape,
                         std::as_bytes(std::span{trained}).first(static_cast<std::size_t>(p.elements()) * 4)};
  });
  into.commit();
  const safetensors_file file{out.path() / "x" / "model.safetensors"};
  CHECK(file.names() == std::vector<std::string>{"shift", "table", "head.weight", "mix.weight"});
  CHECK(file.find("head.weight")->data.size() == 192);
  CHECK(!std::filesystem::exists(out.path() / "x" / "config.json"));
}

TEST_CASE("a mean inside the model counts as often as there are targets", "[exported]") {
  const at::Tensor loss = at::full({}, 0.5, at::kFloat);
  const at::Tensor targets = at::arange(4).index_fill(0, at::full({1}, 2, at::kLong), -100);
  CHECK(module_loss(true)->sum(loss, targets).item<float>() == 1.5F);
  CHECK(module_loss(true)->sum(loss.view({1}), at::zeros({6})).item<float>() == 3.0F);
  CHECK(module_loss(false)->sum(loss, targets).item<float>() == 0.5F);
  CHECK_THROWS_WITH(module_loss(true)->sum(at::zeros({2}), targets), Contains("the loss inside the model is [2]"));
}
