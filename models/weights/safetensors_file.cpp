#include "models/weights/safetensors_file.hpp"

#include "models/weights/safetensors_header.hpp"
#include "runtime/base/fault.hpp"
#include "runtime/base/refuse.hpp"

#include <fmt/format.h>

#include <cstring>
#include <utility>

namespace hydra {

namespace {

constexpr std::size_t length_bytes = sizeof(std::uint64_t);

/// The length of the header, which must fit into the file.
std::size_t header_length(std::span<const std::byte> file) {
  if (file.size() < length_bytes) refuse(fmt::format("{} bytes are too few for a header", file.size()));
  std::uint64_t length = 0;
  std::memcpy(&length, file.data(), length_bytes);
  if (length > file.size() - length_bytes)
    refuse(fmt::format("a header of {} bytes does not fit a file of {}", length, file.size()));
  return length;
}

}  // namespace

safetensors_file::safetensors_file(const std::filesystem::path& path) : file_{path} {
  try {
    read_header();
  } catch (const fault_error& e) {
    throw fault_error{e.what_happened().code, fmt::format("{} is not a safetensors file: {}", path.string(), e.what())};
  }
}

std::optional<stored_tensor> safetensors_file::find(std::string_view name) const {
  const auto found = tensors_.find(name);
  return found == tensors_.end() ? std::nullopt : std::optional{found->second};
}

std::string safetensors_file::metadata(const std::string& key) const {
  const auto found = metadata_.find(key);
  return found == metadata_.end() ? "" : found->second;
}

void safetensors_file::read_header() {
  const auto bytes = file_.bytes();
  const std::size_t length = header_length(bytes);
  const std::string_view header{reinterpret_cast<const char*>(bytes.data()) + length_bytes, length};
  const auto data = bytes.subspan(length_bytes + length);
  safetensors_header parsed = parse_safetensors_header(header, data.size());
  metadata_ = std::move(parsed.metadata);
  for (header_entry& e : parsed.entries) {
    names_.push_back(e.name);
    tensors_.emplace(std::move(e.name),
                     stored_tensor{e.type, std::move(e.shape), data.subspan(e.begin, e.end - e.begin)});
  }
}

}  // namespace hydra
