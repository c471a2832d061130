#pragma once
// Small checkpoints as Hugging Face's libraries write them, for tests to read and to damage.

#include "models/weights/safetensors.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace hydra::test {

struct hub_test_tensor {
  stored_type type = stored_type::f32;
  std::vector<std::int64_t> shape;
  std::string bytes;
};

using hub_test_tensors = std::map<std::string, hub_test_tensor>;

/// F32 of that shape; element i is `first` + i / 1024.
hub_test_tensor ramp(std::vector<std::int64_t> shape, float first);

/// config.json of a GPT-2 of 1 block, width 4, 2 heads, 6 positions, 8 tokens, no dropout.
nlohmann::json tiny_gpt2_config();
/// Its tensors, with "transformer." in front.
hub_test_tensors tiny_gpt2_tensors();

void write_tensors(const std::filesystem::path& file, const hub_test_tensors& tensors);
void write_text(const std::filesystem::path& file, const std::string& text);
/// config.json and model.safetensors, in a folder that is created.
void write_checkpoint(const std::filesystem::path& folder, const nlohmann::json& config,
                      const hub_test_tensors& tensors);

}  // namespace hydra::test
