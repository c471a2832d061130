#include "models/weights/safetensors_header.hpp"

#include "runtime/base/fault.hpp"
#include "runtime/base/json_text.hpp"
#include "runtime/base/refuse.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <tuple>
#include <utility>

namespace hydra {

namespace {

using json = nlohmann::json;

void require(bool kept, const std::string& name, std::string_view why) {
  if (!kept) refuse(fmt::format("tensor {}: {}", shown_json(json(name)), why));
}

json parse(std::string_view text) {
  if (!text.starts_with('{')) refuse("the header is not an object");           // the format allows no space before it
  if (text.find('\0') != text.npos) refuse("the header has a zero byte");  // the parser would stop there
  try {
    return parse_json_strictly(text);
  } catch (const fault_error& e) {
    refuse("the header: " + e.what_happened().text);
  } catch (const json::parse_error& e) {
    refuse(fmt::format("the header is not JSON from byte {} on", e.byte));
  } catch (const json::exception& e) {
    refuse(fmt::format("the header is not JSON: {}", json_complaint(e)));
  }
}

/// An array of integers from 0 to 2^63 - 1. An invalid element is not quoted: it may be of any size and depth.
std::vector<std::int64_t> counts_of(const std::string& name, const json& entry, const char* key) {
  const auto found = entry.find(key);
  require(found != entry.end() && found->is_array(), name, fmt::format("{} is not an array", key));
  std::vector<std::int64_t> counts;
  for (const json& count : *found) {
    const bool fits = count.is_number_unsigned() && std::in_range<std::int64_t>(count.get<std::uint64_t>());
    require(fits, name, fmt::format("{}[{}] is not a count", key, counts.size()));
    counts.push_back(count.get<std::int64_t>());
  }
  return counts;
}

stored_type type_in(const std::string& name, const json& entry) {
  const auto found = entry.find("dtype");
  require(found != entry.end() && found->is_string(), name, "dtype is not text");
  const auto type = stored_type_of(found->get<std::string>());
  require(type.has_value(), name, fmt::format("dtype {} is not a type that Hydra knows", shown_json(*found)));
  return *type;
}

header_entry entry_of(const std::string& name, const json& entry) {
  require(entry.is_object(), name, "is described by no object");
  const auto type = type_in(name, entry);
  auto shape = counts_of(name, entry, "shape");
  const auto offsets = counts_of(name, entry, "data_offsets");
  require(offsets.size() == 2 && offsets[0] <= offsets[1], name, "data_offsets are not a start and an end");
  const auto begin = static_cast<std::uint64_t>(offsets[0]), end = static_cast<std::uint64_t>(offsets[1]);
  require(bytes_of(type, shape) == end - begin, name,
          fmt::format("{}[{}] is not of {} bytes", to_string(type), fmt::join(shape, ", "), end - begin));
  return {name, type, std::move(shape), begin, end};
}

std::map<std::string, std::string> metadata_of(const json& metadata) {
  const bool texts = std::all_of(metadata.begin(), metadata.end(), [](const json& j) { return j.is_string(); });
  if (!metadata.is_object() || !texts) refuse("__metadata__ is not an object of texts");
  return metadata.get<std::map<std::string, std::string>>();
}

void check_cover(const std::vector<header_entry>& entries, std::uint64_t data_bytes) {
  std::uint64_t covered = 0;
  for (const header_entry& e : entries) {
    require(e.begin == covered, e.name, fmt::format("starts at {} instead of {}", e.begin, covered));
    require(e.end <= data_bytes, e.name, fmt::format("ends at {} of {} bytes", e.end, data_bytes));
    covered = e.end;
  }
  if (covered != data_bytes) refuse(fmt::format("no tensor owns bytes {} to {}", covered, data_bytes));
}

}  // namespace

safetensors_header parse_safetensors_header(std::string_view text, std::uint64_t data_bytes) {
  const json header = parse(text);
  safetensors_header result;
  auto& entries = result.entries;
  for (const auto& [name, value] : header.items())
    if (name == "__metadata__")
      result.metadata = metadata_of(value);
    else
      entries.push_back(entry_of(name, value));
  std::stable_sort(entries.begin(), entries.end(), [](const header_entry& a, const header_entry& b) {
    return std::tie(a.begin, a.end) < std::tie(b.begin, b.end);
  });
  check_cover(entries, data_bytes);
  return result;
}

}  // namespace hydra
