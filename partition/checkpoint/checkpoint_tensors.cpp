#include "partition/checkpoint/checkpoint_tensors.hpp"

#include "models/weights/stored_values.hpp"
#include "partition/checkpoint/checkpoint_names.hpp"
#include "runtime/base/fault.hpp"
#include "runtime/base/shown_text.hpp"
#include "runtime/storage/mapped_file.hpp"

#include <fmt/format.h>

#include <cstring>
#include <utility>

namespace hydra {

namespace {

[[noreturn]] void refuse_tensors(const std::filesystem::path& file, const std::string& why) {
  throw fault_error(fault_code::damaged, fmt::format("{}: {}", file.string(), why));
}

}  // namespace

checkpoint_tensors::checkpoint_tensors(std::filesystem::path folder, std::size_t shards) : folder_(std::move(folder)) {
  for (std::size_t s = 0; s < shards; ++s) {
    files_.push_back(std::make_unique<file>(folder_ / checkpoint_names::shard_file(s)));
    for (const auto& name : files_.back()->tensors.names()) {
      places_.emplace(name, files_.back().get());
    }
  }
}

const checkpoint_tensors::file& checkpoint_tensors::file_of(const std::string& name) const {
  const auto place = places_.find(name);
  if (place == places_.end()) {
    refuse_tensors(folder_, "has no tensor '" + name + "'");
  }
  return *place->second;
}

stored_tensor checkpoint_tensors::find(const std::string& name) const {
  return file_of(name).tensors.find(name).value();
}

stored_tensor checkpoint_tensors::find(const std::string& name, stored_type type, std::size_t bytes) const {
  const auto& place = file_of(name);
  const auto t = place.tensors.find(name).value();
  if (t.type != type || t.data.size() != bytes) {
    refuse_tensors(place.path, fmt::format("tensor '{}' has {} bytes of another size or type than the model's {}",
                                           shown(name), t.data.size(), bytes));
  }
  return t;
}

void checkpoint_tensors::copy(const std::string& name, std::span<float> to) const {
  widen_mapped(find(name, stored_type::f32, to.size_bytes()), to);
}

void checkpoint_tensors::copy(const std::string& name, std::span<std::uint16_t> to) const {
  copy(name, stored_type::bf16, std::as_writable_bytes(to));
}

void checkpoint_tensors::copy(const std::string& name, std::span<std::uint8_t> to) const {
  copy(name, stored_type::u8, std::as_writable_bytes(to));
}

void checkpoint_tensors::copy(const std::string& name, stored_type type, std::span<std::byte> to) const {
  const auto t = find(name, type, to.size());
  std::memcpy(to.data(), t.data.data(), to.size());
  mapped_file::release(t.data);
}

}  // namespace hydra
