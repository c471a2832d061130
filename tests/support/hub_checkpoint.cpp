#include "tests/support/hub_checkpoint.hpp"

#include "tests/support/stored_tensors.hpp"

#include <fstream>
#include <span>

namespace hydra::test {

hub_test_tensor ramp(std::vector<std::int64_t> shape, float first) {
  std::int64_t elements = 1;
  for (const std::int64_t n : shape) elements *= n;
  std::string bytes;
  for (std::int64_t i = 0; i < elements; ++i) {
    const float value = first + static_cast<float>(i) / 1024;
    bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  return {stored_type::f32, std::move(shape), std::move(bytes)};
}

nlohmann::json tiny_gpt2_config() {
  return {{"architectures", {"GPT2LMHeadModel"}}, {"model_type", "gpt2"}, {"n_layer", 1},     {"n_embd", 4},
          {"n_head", 2},                          {"n_positions", 6},     {"vocab_size", 8},  {"resid_pdrop", 0.0},
          {"embd_pdrop", 0.0},                    {"attn_pdrop", 0.0},    {"n_inner", nullptr}};
}

hub_test_tensors tiny_gpt2_tensors() {
  const std::vector<std::pair<const char*, std::vector<std::int64_t>>> shapes{
      {"wte.weight", {8, 4}},           {"wpe.weight", {6, 4}},
      {"h.0.ln_1.weight", {4}},         {"h.0.ln_1.bias", {4}},
      {"h.0.attn.c_attn.weight", {4, 12}}, {"h.0.attn.c_attn.bias", {12}},
      {"h.0.attn.c_proj.weight", {4, 4}},  {"h.0.attn.c_proj.bias", {4}},
      {"h.0.ln_2.weight", {4}},         {"h.0.ln_2.bias", {4}},
      {"h.0.mlp.c_fc.weight", {4, 16}}, {"h.0.mlp.c_fc.bias", {16}},
      {"h.0.mlp.c_proj.weight", {16, 4}},  {"h.0.mlp.c_proj.bias", {4}},
      {"ln_f.weight", {4}},             {"ln_f.bias", {4}}};
  hub_test_tensors tensors;
  float first = 0;
  for (const auto& [name, shape] : shapes) tensors[std::string{"transformer."} + name] = ramp(shape, first += 1);
  return tensors;
}

void write_tensors(const std::filesystem::path& file, const hub_test_tensors& tensors) {
  std::vector<named_tensor> views;
  for (const std::size_t width : {8u, 4u, 2u, 1u})  // wider types first, as the format's writers do
    for (const auto& [name, t] : tensors)
      if (width_of(t.type) == width) views.push_back({name, tensor_of(t.type, t.shape, t.bytes)});
  write_text(file, safetensors_text(views));
}

void write_text(const std::filesystem::path& file, const std::string& text) {
  std::ofstream{file, std::ios::binary} << text;
}

void write_checkpoint(const std::filesystem::path& folder, const nlohmann::json& config,
                      const hub_test_tensors& tensors) {
  std::filesystem::create_directories(folder);
  write_text(folder / "config.json", config.dump());
  write_tensors(folder / "model.safetensors", tensors);
}

}  // namespace hydra::test
