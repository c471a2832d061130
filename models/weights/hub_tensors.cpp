#include "models/weights/hub_tensors.hpp"

#include "models/weights/model_config.hpp"
#include "runtime/base/fault.hpp"
#include "runtime/base/json_text.hpp"
#include "runtime/base/refuse.hpp"
#include "runtime/storage/checksum_list.hpp"
#include "runtime/storage/sha256.hpp"
#include "runtime/storage/verify_folder.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace hydra {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 5> base_models{"transformer.", "model.", "bert.", "vit.", "resnet."};
constexpr std::string_view peft_prefix = "base_model.model.";
constexpr std::size_t sampled_bytes = 64, sampled_places = 64;  // of each tensor, from its start to its end

/// All of a small tensor.
void add_samples(std::span<const std::byte> data, sha256& hash) {
  if (data.size() <= sampled_places * sampled_bytes) return hash.add(data);
  const std::size_t last = data.size() - sampled_bytes;
  for (std::size_t i = 0; i < sampled_places; ++i)
    hash.add(data.subspan(last * i / (sampled_places - 1), sampled_bytes));
}

/// A part's name comes from an untrusted file: it must stay in the folder.
fs::path part_path(const fs::path& index, const std::string& tensor, const nlohmann::json& part) {
  const fs::path name = part.is_string() ? part.get<std::string>() : std::string{};
  if (name.empty() || name != name.filename())
    refuse(index, fmt::format("weight_map: {}: {} is no name of a file in this folder", tensor, json_text(part)));
  return index.parent_path() / name;
}

void verify_sums(const fs::path& folder) try {
  if (fs::exists(folder / checksum_file)) verify_listed(folder);
} catch (const fault_error& e) {
  if (e.what_happened().code != fault_code::damaged) throw;
  throw fault_error{fault_code::bad_input,
                    fmt::format("{}; get the checkpoint again, or remove {} if it is meant to be so",
                                e.what_happened().text, checksum_file)};
}

}  // namespace

std::string canonical_name(std::string_view stored) {
  if (stored.starts_with(peft_prefix)) stored.remove_prefix(peft_prefix.size());
  const auto base = std::ranges::find_if(base_models, [&](std::string_view b) { return stored.starts_with(b); });
  if (base != base_models.end()) stored.remove_prefix(base->size());
  if (stored.ends_with("LayerNorm.gamma")) return fmt::format("{}weight", stored.substr(0, stored.size() - 5));
  if (stored.ends_with("LayerNorm.beta")) return fmt::format("{}bias", stored.substr(0, stored.size() - 4));
  return std::string{stored};
}

hub_tensors::hub_tensors(fs::path folder, std::string_view stem) : folder_(std::move(folder)) {
  const fs::path whole = folder_ / fmt::format("{}.safetensors", stem),
                 index = folder_ / fmt::format("{}.safetensors.index.json", stem);
  if (fs::exists(whole)) {
    const safetensors_file& file = open(whole);
    for (const std::string& name : file.names()) add(whole, name, *file.find(name));
  } else if (fs::exists(index)) {
    read_index(index);
  } else {
    refuse(folder_, fmt::format("has neither {} nor {}; weights of other formats (.bin) have to be saved as "
                                "safetensors first",
                                whole.filename().string(), index.filename().string()));
  }
}

void hub_tensors::read_index(const fs::path& index) {
  const auto map = model_config::read(index).table("weight_map");
  if (!map) refuse(index, "weight_map: is missing; a table of tensors and their files is needed");
  for (const auto& [name, part] : map->content().items()) {
    const fs::path path = part_path(index, name, part);
    if (!fs::exists(path)) refuse(index, fmt::format("names {} for tensor {}, which is missing", path.string(), name));
    const auto tensor = open(path).find(name);
    if (!tensor) refuse(path, fmt::format("has no tensor {}, which {} says it has", name, index.filename().string()));
    add(path, name, *tensor);
  }
  for (const auto& [path, file] : files_)
    for (const std::string& name : file->names())
      if (!map->has(name)) refuse(path, fmt::format("tensor {} is not in {}", name, index.filename().string()));
}

const safetensors_file& hub_tensors::open(const fs::path& file) {
  auto& opened = files_[file];
  if (!opened) opened = std::make_unique<safetensors_file>(file);
  return *opened;
}

void hub_tensors::add(const fs::path& file, const std::string& name, const stored_tensor& tensor) {
  const auto [place, is_new] = tensors_.emplace(canonical_name(name), hub_tensor{file, name, tensor});
  if (!is_new) refuse(file, fmt::format("tensors {} and {} are the same parameter", place->second.name, name));
}

const hub_tensor* hub_tensors::find(std::string_view name) const {
  const auto found = tensors_.find(canonical_name(name));
  return found == tensors_.end() ? nullptr : &found->second;
}

std::string hub_tensors::metadata(const std::string& key) const {
  return files_.empty() ? "" : files_.begin()->second->metadata(key);
}

void hub_tensors::verify() const {
  std::call_once(verified_, [this] { verify_sums(folder_); });
}

std::string hub_tensors::identity() const {
  sha256 hash;
  for (const auto& [name, t] : tensors_) {
    const std::string text = fmt::format("{} {} {}\n", name, to_string(t.tensor.type), fmt::join(t.tensor.shape, " "));
    hash.add(std::as_bytes(std::span{text}));
    add_samples(t.tensor.data, hash);
  }
  return hash.finish();
}

}  // namespace hydra
