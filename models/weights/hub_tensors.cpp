#include "models/weights/hub_tensors.hpp"

#include "models/weights/checkpoint_sums.hpp"
#include "models/weights/four_bit_weights.hpp"
#include "models/weights/listed_names.hpp"
#include "models/weights/model_config.hpp"
#include "models/weights/stored_values.hpp"
#include "runtime/base/fault.hpp"
#include "runtime/base/json_text.hpp"
#include "runtime/base/path_kind.hpp"
#include "runtime/base/refuse.hpp"
#include "runtime/base/shown_text.hpp"
#include "runtime/storage/sha256.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <set>
#include <utility>

namespace hydra {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 5> base_models{"transformer.", "model.", "bert.", "vit.", "resnet."};
constexpr std::string_view peft_prefix = "base_model.model.";
/// In front of all names of a model that torch.compile, DistributedDataParallel or a LightningModule holds.
constexpr std::array<std::string_view, 3> wrappers{"_orig_mod.", "module.", "model."};
constexpr std::array<std::string_view, 8> weight_files{".safetensors", ".bin",  ".pt", ".pth",
                                                       ".ckpt",        ".gguf", ".h5", ".msgpack"};
/// In the second of two names by which PEFT stores an embedding that it has trained in full, or its bias.
constexpr std::string_view saved_part = ".modules_to_save.";
constexpr std::array<std::pair<std::string_view, std::string_view>, 9> named_parts{
    {{".lora_A.default.", ".lora_A."},
     {".lora_B.default.", ".lora_B."},
     {".lora_magnitude_vector.default.weight", ".lora_magnitude_vector"},
     {".lora_embedding_A.default", ".lora_embedding_A"},
     {".lora_embedding_B.default", ".lora_embedding_B"},
     {".modules_to_save.default.", "."},
     {saved_part, "."},
     {".token_adapter.base_layer.", "."},
     {".base_layer.", "."}}};  // a head or embedding that is adapted: PEFT stores what it adds to, too
/// PEFT stores the values of the base, too, of modules that it trains in full: nothing reads them.
constexpr std::string_view unused_part = ".original_module.";
constexpr std::size_t sampled_bytes = 64, sampled_places = 64;  // of each tensor, from its start to its end

bool is_again(const hub_tensor& t, const hub_tensor& other) {
  const auto is_saved = [](const hub_tensor& each) { return each.name.find(saved_part) != std::string::npos; };
  return is_saved(t) != is_saved(other) && equal_mapped(t.tensor, other.tensor);
}

/// All of a small tensor.
void add_samples(std::span<const std::byte> data, sha256& hash) {
  if (data.size() <= sampled_places * sampled_bytes) return hash.add(data);
  const std::size_t last = data.size() - sampled_bytes;
  for (std::size_t i = 0; i < sampled_places; ++i)
    hash.add(data.subspan(last * i / (sampled_places - 1), sampled_bytes));
}

/// Weights that are multiples of each other have the same codes.
void add_scales(const four_bit_values& values, sha256& hash) {
  add_samples(values.scales, hash);
  if (!values.nested) return;
  add_samples(values.nested->scales, hash);
  hash.add(std::as_bytes(std::span{&values.nested->offset, 1}));
}

std::string_view type_of(const hub_tensor& t) {
  return t.four_bits ? to_string(t.four_bits->type) : to_string(t.tensor.type);
}

/// A part's name comes from an untrusted file: it must stay in the folder.
fs::path part_path(const fs::path& index, const std::string& tensor, const nlohmann::json& part) {
  const fs::path name = part.is_string() ? part.get<std::string>() : std::string{};
  if (name.empty() || name != name.filename())
    refuse(index,
           fmt::format("weight_map: {}: {} is not a name of a file in this folder", shown(tensor), shown_json(part)));
  return index.parent_path() / name;
}

std::set<fs::path> parts_in(const fs::path& index, const nlohmann::json& map) {
  std::set<fs::path> parts;
  for (const auto& [name, part] : map.items()) parts.insert(part_path(index, name, part));
  return parts;
}

void require_parts(const fs::path& index, const nlohmann::json& map) {
  const std::set<fs::path> parts = parts_in(index, map);
  std::vector<std::string> missing;
  for (const fs::path& part : parts)
    if (kind_of(part) == fs::file_type::not_found) missing.push_back(part.filename().string());
  if (!missing.empty())
    refuse(index,
           fmt::format("{} of the {} files that it names are missing in this folder: {}; get the whole checkpoint",
                       missing.size(), parts.size(), listed_names(missing)));
}

/// Names of files in the folder that may hold weights.
std::vector<std::string> other_weights(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const fs::directory_entry& e : fs::directory_iterator{folder, ignored})
    if (std::ranges::find(weight_files, e.path().extension().string()) != weight_files.end())
      names.push_back(e.path().filename().string());
  std::ranges::sort(names);
  return names;
}

[[noreturn]] void refuse_without_weights(const fs::path& folder, const fs::path& whole, const fs::path& index) {
  const std::vector<std::string> others = other_weights(folder);
  refuse(folder, fmt::format("has neither {} nor {}{}; parts need their index, and weights of other formats (.bin, "
                             ".gguf) have to be saved as safetensors first",
                             whole.filename().string(), index.filename().string(),
                             others.empty() ? "" : fmt::format(", only {}", listed_names(others))));
}

std::string wrapper_of(const std::vector<hub_tensor>& all, const std::string& known = {}) {
  for (const std::string_view more : wrappers) {
    const std::string longer = known + std::string{more};
    const bool of_all = std::ranges::all_of(all, [&](const hub_tensor& t) { return t.name.starts_with(longer); });
    if (of_all && !all.empty()) return wrapper_of(all, longer);
  }
  return known;
}

/// In a state_dict() the tensors of an adapter have its name, too: "default", unless another was given.
std::string without_adapter_name(std::string_view stored) {
  for (const auto& [with, without] : named_parts)
    if (const std::size_t at = stored.find(with); at != std::string_view::npos)
      return fmt::format("{}{}{}", stored.substr(0, at), without, stored.substr(at + with.size()));
  return std::string{stored};
}

}  // namespace

void refuse_tensor(const hub_tensor& t, std::string_view why) {
  refuse(t.file, fmt::format("tensor {}: {}", shown(t.name), why));
}

std::string canonical_name(std::string_view name) {
  const std::string own = without_adapter_name(name);
  std::string_view stored = own;
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
  const bool is_whole = kind_of(whole) != fs::file_type::not_found;
  if (!is_whole && !fs::exists(index)) refuse_without_weights(folder_, whole, index);
  const std::vector<hub_tensor> all = join_four_bits(is_whole ? tensors_in(whole) : tensors_of_index(index));
  const std::size_t wrapper = wrapper_of(all).size();
  for (const hub_tensor& t : all)
    if (t.name.find(unused_part) == std::string::npos) add(canonical_name(std::string_view{t.name}.substr(wrapper)), t);
}

std::vector<hub_tensor> hub_tensors::tensors_in(const fs::path& file) {
  std::vector<hub_tensor> all;
  const safetensors_file& opened = open(file);
  for (const std::string& name : opened.names()) all.push_back({file, name, *opened.find(name)});
  return all;
}

std::vector<hub_tensor> hub_tensors::tensors_of_index(const fs::path& index) {
  const auto map = model_config::read(index).table("weight_map");
  if (!map) refuse(index, "weight_map: is missing; a table of tensors and their files is needed");
  require_parts(index, map->content());
  std::vector<hub_tensor> all;
  for (const auto& [name, part] : map->content().items()) {
    const fs::path path = part_path(index, name, part);
    const auto tensor = open(path).find(name);
    if (!tensor)
      refuse(path, fmt::format("has no tensor {}, which {} says it has", shown(name), index.filename().string()));
    all.push_back({path, name, *tensor});
  }
  for (const auto& [path, file] : files_)
    for (const std::string& name : file->names())
      if (!map->has(name)) refuse(path, fmt::format("tensor {} is not in {}", shown(name), index.filename().string()));
  return all;
}

const safetensors_file& hub_tensors::open(const fs::path& file) {
  auto& opened = files_[file];
  if (!opened) opened = std::make_unique<safetensors_file>(file);
  return *opened;
}

void hub_tensors::add(const std::string& name, const hub_tensor& t) {
  const auto [place, is_new] = tensors_.emplace(name, t);
  if (!is_new && !is_again(t, place->second))
    refuse(t.file, fmt::format("tensors {} and {} are the same parameter", shown(place->second.name), shown(t.name)));
}

const hub_tensor* hub_tensors::find(std::string_view name) const {
  const auto found = tensors_.find(canonical_name(name));
  return found == tensors_.end() ? nullptr : &found->second;
}

std::string hub_tensors::files() const {
  if (files_.size() == 1) return files_.begin()->first.string();
  std::vector<std::string> names;
  for (const auto& [path, file] : files_) names.push_back(path.filename().string());
  return fmt::format("{} ({})", folder_.string(), listed_names(names));
}

std::string hub_tensors::metadata(const std::string& key) const {
  return files_.empty() ? "" : files_.begin()->second->metadata(key);
}

void hub_tensors::verify() const {
  std::call_once(verified_, [this] { verify_checkpoint(folder_); });
}

std::string hub_tensors::identity() const {
  sha256 hash;
  for (const auto& [name, t] : tensors_) {
    const std::string text = fmt::format("{} {} {}\n", name, type_of(t), fmt::join(t.tensor.shape, " "));
    hash.add(std::as_bytes(std::span{text}));
    add_samples(t.tensor.data, hash);
    if (t.four_bits) add_scales(*t.four_bits, hash);
  }
  return hash.finish();
}

}  // namespace hydra
