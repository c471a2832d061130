#include "models/weights/hub_export.hpp"

#include "models/data/data_catalog.hpp"
#include "models/families/hub_folder.hpp"
#include "models/families/mlp/mlp.hpp"
#include "models/weights/hub_tensors.hpp"
#include "runtime/base/fault.hpp"
#include "runtime/device/device_block.hpp"
#include "runtime/storage/durable_folder.hpp"
#include "tests/support/hub_checkpoint.hpp"
#include "tests/support/temporary_folder.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstddef>
#include <vector>

using namespace hydra;
using namespace hydra::test;
using Catch::Matchers::Contains;

namespace hub_export_test {

namespace fs = std::filesystem;

std::shared_ptr<const data_source> text() {
  return open_data({synthetic_language{.symbols = 8, .order = 1, .tokens = 200, .validation_tokens = 0}}, 6);
}

/// Exports the tiny GPT-2 in `from` with its own tensors, each in the memory of the last one, in parts of this many
/// bytes.
void export_tiny(const fs::path& from, const fs::path& to, std::uint64_t part_bytes) {
  const hub_tensors tensors{from};
  std::vector<std::byte> last;
  const auto values = [&](const parameter_spec& p) {
    const stored_tensor& t = tensors.find(p.name)->tensor;
    last.assign(t.data.begin(), t.data.end());
    return stored_tensor{t.type, t.shape, last};
  };
  durable_folder into{posix_file_system(), to};
  write_hub_files(into, describe_from(from, {}).build(*text()), values, part_bytes);
  into.commit();
}

void check_equal(const fs::path& a, const fs::path& b) {
  const hub_tensors first{a}, second{b};
  REQUIRE(first.all().size() == second.all().size());
  for (const auto& [name, t] : first.all()) {
    CAPTURE(name);
    const hub_tensor* const other = second.find(name);
    REQUIRE(other != nullptr);
    CHECK(other->name == t.name);
    CHECK(other->tensor.shape == t.tensor.shape);
    CHECK(std::ranges::equal(other->tensor.data, t.tensor.data));
  }
}

TEST_CASE("an export equals what was read, in one file or in parts") {
  const temporary_folder folder;
  const fs::path original = folder.path() / "original", whole = folder.path() / "whole",
                 parts = folder.path() / "parts";
  write_checkpoint(original, tiny_gpt2_config(), tiny_gpt2_tensors());
  export_tiny(original, whole, hub_part_bytes);
  export_tiny(original, parts, 300);
  CHECK(fs::exists(whole / "model.safetensors"));
  CHECK_FALSE(fs::exists(whole / "model.safetensors.index.json"));
  CHECK_FALSE(fs::exists(parts / "model.safetensors"));
  const auto is_part = [](const fs::directory_entry& e) { return e.path().extension() == ".safetensors"; };
  CHECK(std::ranges::count_if(fs::directory_iterator{parts}, is_part) > 2);
  check_equal(original, whole);
  check_equal(original, parts);
}

TEST_CASE("an export can be read again") {
  const temporary_folder folder;
  const fs::path original = folder.path() / "original", first = folder.path() / "first",
                 second = folder.path() / "second";
  write_checkpoint(original, tiny_gpt2_config(), tiny_gpt2_tensors());
  export_tiny(original, first, hub_part_bytes);
  export_tiny(first, second, hub_part_bytes);
  check_equal(original, second);
}

TEST_CASE("a model without a form as a Hugging Face checkpoint is not exported, and nothing is left") {
  const temporary_folder folder;
  const auto data = open_data({synthetic_classes{}}, 0);
  const auto no_values = [](const parameter_spec&) { return stored_tensor{}; };
  {
    durable_folder into{posix_file_system(), folder.path() / "mlp"};
    CHECK_THROWS_WITH(write_hub_files(into, mlp({.layers = 1, .width = 4}).build(*data), no_values),
                      Contains("a model of family mlp cannot be exported"));
  }
  CHECK(std::filesystem::is_empty(folder.path()));
}

}  // namespace hub_export_test
