#include "models/weights/safetensors.hpp"

#include "runtime/base/fault.hpp"
#include "runtime/base/json_text.hpp"
#include "runtime/base/utf8.hpp"
#include "runtime/storage/byte_sink.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <set>

namespace hydra {

static_assert(std::endian::native == std::endian::little, "safetensors are little-endian");

namespace {

struct type_row {
  stored_type type;
  std::string_view text;
  std::uint64_t width;
};

constexpr std::array types{type_row{stored_type::f32, "F32", 4}, type_row{stored_type::f64, "F64", 8},
                           type_row{stored_type::i64, "I64", 8}, type_row{stored_type::u8, "U8", 1},
                           type_row{stored_type::bf16, "BF16", 2}, type_row{stored_type::f16, "F16", 2},
                           type_row{stored_type::boolean, "BOOL", 1}, type_row{stored_type::i8, "I8", 1},
                           type_row{stored_type::i16, "I16", 2}, type_row{stored_type::i32, "I32", 4},
                           type_row{stored_type::u16, "U16", 2}, type_row{stored_type::u32, "U32", 4},
                           type_row{stored_type::u64, "U64", 8}, type_row{stored_type::f8_e4m3, "F8_E4M3", 1},
                           type_row{stored_type::f8_e5m2, "F8_E5M2", 1}, type_row{stored_type::f8_e8m0, "F8_E8M0", 1},
                           type_row{stored_type::c64, "C64", 8}};

static_assert(
    std::ranges::all_of(types, [](const type_row& row) { return &row == &types[static_cast<std::size_t>(row.type)]; }),
    "the table is indexed by type");

constexpr const type_row& row_of(stored_type type) { return types[static_cast<std::size_t>(type)]; }

constexpr std::size_t alignment = 64;
constexpr std::string_view reserved_name = "__metadata__";

/// The text as JSON writes it.
std::string quoted(const std::string& text) { return json_text(nlohmann::json(text)); }

[[noreturn]] void cannot_store(const std::string& name, std::string_view why) {
  throw fault_error{fault_code::internal, fmt::format("tensor {} cannot be stored: {}", quoted(name), why)};
}

/// Elements that are not aligned to their width could not be used in place.
void check(const deferred_tensor& t, std::uint64_t begin) {
  if (t.name == reserved_name) cannot_store(t.name, "the format reserves the name");
  if (valid_utf8(std::as_bytes(std::span{t.name})) != t.name.size()) cannot_store(t.name, "its name is not UTF-8");
  if (begin % width_of(t.type) != 0) cannot_store(t.name, "wider types must come first");
}

/// Bytes of the tensor.
std::uint64_t size_of(const deferred_tensor& t) {
  const auto bytes = bytes_of(t.type, t.shape);
  if (!bytes) cannot_store(t.name, fmt::format("there is no shape [{}]", fmt::join(t.shape, ", ")));
  return *bytes;
}

void check_values(const deferred_tensor& t, const stored_tensor& values) {
  if (values.type == t.type && values.data.size() == bytes_of(t.type, t.shape)) return;
  cannot_store(t.name, fmt::format("{}[{}] is not of {} bytes", to_string(t.type), fmt::join(t.shape, ", "),
                                   values.data.size()));
}

std::string entry_of(const deferred_tensor& t, std::uint64_t begin) {
  return fmt::format(R"(,{}:{{"dtype":"{}","shape":[{}],"data_offsets":[{},{}]}})", quoted(t.name), to_string(t.type),
                     fmt::join(t.shape, ","), begin, begin + size_of(t));
}

std::string header_of(std::span<const deferred_tensor> tensors, const std::map<std::string, std::string>& texts) {
  std::string header = fmt::format(R"({{"{}":{{"format":"pt")", reserved_name);
  for (const auto& [key, text] : texts) header += fmt::format(",{}:{}", quoted(key), quoted(text));
  header += "}";
  std::set<std::string_view> names;
  std::uint64_t begin = 0;
  for (const deferred_tensor& t : tensors) {
    check(t, begin);
    if (!names.insert(t.name).second) cannot_store(t.name, "its name is taken");
    header += entry_of(t, begin);
    begin += size_of(t);
  }
  return header + "}";
}

void write_values(byte_sink& out, const deferred_tensor& t) {
  const stored_tensor values = t.values();
  check_values(t, values);
  out.add(values.data);
}

/// Padded with spaces, so that the data after it are aligned in the file.
void pad(std::string& header) {
  const std::size_t end = sizeof(std::uint64_t) + header.size();
  header.append((alignment - end % alignment) % alignment, ' ');
}

}  // namespace

std::string_view to_string(stored_type type) noexcept { return row_of(type).text; }

std::uint64_t width_of(stored_type type) noexcept { return row_of(type).width; }

std::optional<stored_type> stored_type_of(std::string_view text) noexcept {
  const auto row = std::find_if(types.begin(), types.end(), [&](const type_row& r) { return r.text == text; });
  return row == types.end() ? std::nullopt : std::optional{row->type};
}

std::optional<std::uint64_t> bytes_of(stored_type type, std::span<const std::int64_t> shape) noexcept {
  auto bytes = static_cast<std::int64_t>(width_of(type));
  for (const std::int64_t n : shape)
    if (n < 0 || __builtin_mul_overflow(bytes, n, &bytes)) return {};
  return static_cast<std::uint64_t>(bytes);
}

void write_safetensors(byte_sink& out, std::span<const deferred_tensor> tensors,
                       const std::map<std::string, std::string>& texts) {
  std::string header = header_of(tensors, texts);
  pad(header);
  const std::uint64_t length = header.size();
  out.add(std::as_bytes(std::span{&length, 1}));
  out.add(std::as_bytes(std::span{header}));
  for (const deferred_tensor& t : tensors) write_values(out, t);
}

void write_safetensors(byte_sink& out, std::span<const named_tensor> tensors,
                       const std::map<std::string, std::string>& texts) {
  std::vector<deferred_tensor> all;
  for (const named_tensor& t : tensors) {
    all.push_back({t.name, t.tensor.type, t.tensor.shape, [values = t.tensor] { return values; }});
    check_values(all.back(), t.tensor);
  }
  write_safetensors(out, all, texts);
}

}  // namespace hydra
