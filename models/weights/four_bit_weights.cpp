#include "models/weights/four_bit_weights.hpp"

#include "models/weights/model_config.hpp"
#include "runtime/base/fault.hpp"
#include "runtime/base/json_text.hpp"
#include "runtime/base/shown_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <set>
#include <utility>

namespace hydra {
namespace {

constexpr std::string_view scales_suffix = ".absmax", table_suffix = ".quant_map",
                           nested_scales_suffix = ".nested_absmax", nested_table_suffix = ".nested_quant_map",
                           nf4_suffix = ".quant_state.bitsandbytes__nf4", fp4_suffix = ".quant_state.bitsandbytes__fp4";
/// A suffix that another one ends with comes after it.
constexpr std::array<std::string_view, 6> part_suffixes{nested_scales_suffix, nested_table_suffix, scales_suffix,
                                                        table_suffix,         nf4_suffix,          fp4_suffix};
constexpr const char* quantised_again =
    "The weight is quantised to 4 bits by bitsandbytes: save it again by transformers, or take the checkpoint in 16 "
    "bits that it was made of, with base = \"nf4\" if 4 bits are wanted";

/// What is stored beside a weight, by suffix.
using weight_parts = std::map<std::string_view, hub_tensor>;

std::string_view suffix_of(std::string_view name) {
  const auto found = std::ranges::find_if(part_suffixes, [&](std::string_view s) { return name.ends_with(s); });
  return found == part_suffixes.end() ? std::string_view{} : *found;
}

nlohmann::json json_in(const hub_tensor& t) try {
  return parse_json_strictly({reinterpret_cast<const char*>(t.tensor.data.data()), t.tensor.data.size()});
} catch (const fault_error& e) {
  refuse_tensor(t, e.what_happened().text);
} catch (const nlohmann::json::exception& e) {
  refuse_tensor(t, fmt::format("holds no JSON object: {}", json_complaint(e)));
}

model_config settings_in(const hub_tensor& t) {
  nlohmann::json parsed = json_in(t);
  if (!parsed.is_object()) refuse_tensor(t, "holds no JSON object");
  return {fmt::format("{}: tensor {}", t.file.string(), shown(t.name)), std::move(parsed)};
}

/// Of the sizes that bitsandbytes has.
std::size_t block_in(const model_config& settings, std::string_view key) {
  const std::int64_t block = settings.integer(key);
  constexpr std::array<std::int64_t, 8> sizes{32, 64, 128, 256, 512, 1024, 2048, 4096};
  if (std::ranges::find(sizes, block) == sizes.end())
    settings.refuse(key, fmt::format("{} is none of {}", block, fmt::join(sizes, ", ")));
  return static_cast<std::size_t>(block);
}

std::size_t divided(std::size_t n, std::size_t by) { return n / by + (n % by == 0 ? 0 : 1); }

/// The four to six tensors of one weight.
class quantised_weight {
 public:
  quantised_weight(const hub_tensor& packed, const weight_parts& parts)
      : packed_{packed}, parts_{parts}, type_{type_of_parts()}, state_{settings_in(part(state_suffix()))} {}

  hub_tensor joined() const {
    state_.require("quant_type", to_string(type_));
    state_.ignore({"dtype"});  // four_bit_values are not rounded to it
    const std::vector<std::int64_t> shape = state_.integers("shape");
    const std::size_t block = block_in(state_, "blocksize"), blocks = divided(count_of(shape), block);
    check_table();
    const bool nested = is_nested();
    const four_bit_values values{
        .type = type_,
        .block = block,
        .codes = packed_.tensor.data,
        .scales = bytes_of_part(scales_suffix, nested ? stored_type::u8 : stored_type::f32, blocks),
        .nested = nested ? std::optional{nested_of(blocks)} : std::nullopt};
    if (const auto unknown = state_.unread(); !unknown.empty())
      state_.refuse(unknown.front(), "is not a key that Hydra knows");
    return {packed_.file, packed_.name, {stored_type::u8, shape, packed_.tensor.data}, values};
  }

 private:
  std::string_view state_suffix() const { return type_ == four_bit_type::nf4 ? nf4_suffix : fp4_suffix; }

  four_bit_type type_of_parts() const {
    const bool nf4 = parts_.contains(nf4_suffix);
    if (nf4 == parts_.contains(fp4_suffix))
      refuse_tensor(packed_, fmt::format("has {} {}{} and {}; one of them is needed", nf4 ? "both" : "neither",
                                         shown(packed_.name), nf4_suffix, fp4_suffix));
    return nf4 ? four_bit_type::nf4 : four_bit_type::fp4;
  }

  const hub_tensor& part(std::string_view suffix) const {
    const auto found = parts_.find(suffix);
    if (found == parts_.end())
      refuse_tensor(packed_, fmt::format("{}{} is missing beside it", shown(packed_.name), suffix));
    return found->second;
  }

  std::span<const std::byte> bytes_of_part(std::string_view suffix, stored_type type, std::size_t elements) const {
    const hub_tensor& t = part(suffix);
    if (t.tensor.type != type || t.tensor.data.size() != elements * width_of(type))
      refuse_tensor(t, fmt::format("is {} [{}]; {} [{}] is needed", to_string(t.tensor.type),
                                   fmt::join(t.tensor.shape, ", "), to_string(type), elements));
    return t.tensor.data;
  }

  /// How many values there are. They may be packed as numbers of any type (bnb_4bit_quant_storage): only the bytes
  /// matter.
  std::size_t count_of(const std::vector<std::int64_t>& shape) const {
    const auto values = bytes_of(stored_type::u8, shape);
    if (!values || divided(*values, 2) != packed_.tensor.data.size())
      refuse_tensor(packed_, fmt::format("has {} bytes, which is not half of the values of [{}], the shape in {}{}",
                                         packed_.tensor.data.size(), fmt::join(shape, ", "), shown(packed_.name),
                                         state_suffix()));
    return *values;
  }

  /// bitsandbytes has the table of a type in its kernels, whatever is stored.
  void check_table() const {
    std::array<float, 16> stored{};
    std::memcpy(stored.data(), bytes_of_part(table_suffix, stored_type::f32, stored.size()).data(), sizeof stored);
    if (stored != table_of(type_))
      refuse_tensor(part(table_suffix), fmt::format("is not the table of {}", to_string(type_)));
  }

  bool is_nested() const {
    return parts_.contains(nested_scales_suffix) || parts_.contains(nested_table_suffix) || state_.has("nested_offset");
  }

  nested_scales nested_of(std::size_t blocks) const {
    state_.require("nested_dtype", "float32");
    const std::size_t group = block_in(state_, "nested_blocksize");
    return {.table = bytes_of_part(nested_table_suffix, stored_type::f32, 256),
            .scales = bytes_of_part(nested_scales_suffix, stored_type::f32, divided(blocks, group)),
            .group = group,
            .offset = static_cast<float>(state_.real("nested_offset"))};
  }

  const hub_tensor& packed_;
  const weight_parts& parts_;
  four_bit_type type_;
  model_config state_;  ///< of quant_state
};

hub_tensor joined(const hub_tensor& packed, const weight_parts& parts) try {
  return quantised_weight{packed, parts}.joined();
} catch (const fault_error& e) {
  throw fault_error{e.what_happened().code, fmt::format("{}. {}", e.what_happened().text, quantised_again)};
}

}  // namespace

std::vector<hub_tensor> join_four_bits(const std::vector<hub_tensor>& stored) {
  std::set<std::string_view> names;
  for (const hub_tensor& t : stored) names.insert(t.name);
  std::map<std::string_view, weight_parts> parts_of;
  std::vector<hub_tensor> all;
  for (const hub_tensor& t : stored) {
    const std::string_view name = t.name, suffix = suffix_of(name);
    const std::string_view weight = name.substr(0, name.size() - suffix.size());
    if (!suffix.empty() && names.contains(weight))
      parts_of[weight].emplace(suffix, t);
    else
      all.push_back(t);
  }
  for (hub_tensor& t : all)
    if (const auto parts = parts_of.find(t.name); parts != parts_of.end()) t = joined(t, parts->second);
  return all;
}

}  // namespace hydra
