#include "models/weights/hub_export.hpp"

#include "runtime/base/json_text.hpp"
#include "runtime/base/refuse.hpp"
#include "runtime/storage/durable_folder.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <functional>
#include <iterator>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace hydra {
namespace {

using tensor_list = std::vector<deferred_tensor>;

deferred_tensor known(const named_tensor& t) {
  return {t.name, t.tensor.type, t.tensor.shape, [values = t.tensor] { return values; }};
}

/// Next to each running mean, transformers stores the number of batches that contributed; nothing is computed from it.
void add_counters(const chain& model, tensor_list& all) {
  static constexpr std::int64_t none = 0;
  constexpr std::string_view mean = "running_mean";
  for (const parameter_spec& p : model.parameters()) {
    const std::string name = model.stored_name(p.name);
    if (p.averaging == 0 || !name.ends_with(mean)) continue;
    all.push_back(known({fmt::format("{}num_batches_tracked",
                                     std::string_view{name}.substr(0, name.size() - mean.size())),
                         {stored_type::i64, {}, std::as_bytes(std::span{&none, 1})}}));
  }
}

std::vector<std::string> names_of(const chain& model, const parameter_spec& p) {
  return model.hub().state_names ? model.hub().state_names(p.name) : std::vector{model.stored_name(p.name)};
}

tensor_list tensors_of(const chain& model, const stored_values& values) {
  tensor_list all;
  if (model.hub().rest_of_state)
    std::ranges::transform(model.hub().rest_of_state(), std::back_inserter(all), known);
  else
    add_counters(model, all);
  for (const parameter_spec& p : model.parameters())
    if (p.tied_to.empty())
      for (std::string& name : names_of(model, p))
        all.push_back({std::move(name), stored_type::f32, p.shape, [&values, p] { return values(p); }});
  std::ranges::stable_sort(all, std::greater{}, [](auto& t) { return width_of(t.type); });  // as a file wants it
  return all;
}

std::uint64_t exported_bytes(const deferred_tensor& t) { return bytes_of(t.type, t.shape).value_or(0); }

std::uint64_t exported_bytes(const tensor_list& tensors) {
  std::uint64_t sum = 0;
  for (const deferred_tensor& t : tensors) sum += exported_bytes(t);
  return sum;
}

/// In order, each part as full as possible; a tensor that is larger than a part gets a part of its own.
std::vector<tensor_list> parts_of(const tensor_list& tensors, std::uint64_t part_bytes) {
  std::vector<tensor_list> parts(1);
  std::uint64_t filled = 0;
  for (const deferred_tensor& t : tensors) {
    if (!parts.back().empty() && filled + exported_bytes(t) > part_bytes) {
      parts.emplace_back();
      filled = 0;
    }
    parts.back().push_back(t);
    filled += exported_bytes(t);
  }
  return parts;
}

void write_part(durable_folder& into, const std::string& name, const tensor_list& tensors) {
  into.write(name, [&](byte_sink& out) { write_safetensors(out, tensors); });
}

void write_parts(durable_folder& into, const std::vector<tensor_list>& parts, std::uint64_t total) {
  nlohmann::json map = nlohmann::json::object();
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::string name = fmt::format("model-{:05}-of-{:05}.safetensors", i + 1, parts.size());
    write_part(into, name, parts[i]);
    for (const deferred_tensor& t : parts[i]) map[t.name] = name;
  }
  const nlohmann::json index{{"metadata", {{"total_size", total}}}, {"weight_map", std::move(map)}};
  into.write("model.safetensors.index.json", json_text(index, 2) + "\n");
}

}  // namespace

void write_hub_files(durable_folder& into, const chain& model, const stored_values& values, std::uint64_t part_bytes) {
  if (!model.hub().exists())
    refuse(fmt::format("a model of family {} cannot be exported: Hugging Face's libraries have no such architecture",
                       model.family()));
  if (!model.hub().config.empty()) into.write("config.json", model.hub().config);
  if (!model.hub().preprocessor.empty()) into.write("preprocessor_config.json", model.hub().preprocessor);
  const tensor_list tensors = tensors_of(model, values);
  const std::vector<tensor_list> parts = parts_of(tensors, part_bytes);
  if (parts.size() == 1)
    write_part(into, "model.safetensors", tensors);
  else
    write_parts(into, parts, exported_bytes(tensors));
}

}  // namespace hydra
