#include "models/data/token_list.hpp"

#include "models/data/tokenized_text.hpp"
#include "runtime/base/refuse.hpp"
#include "runtime/storage/sha256.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace hydra {

token_list::token_list(std::vector<std::uint32_t> ids) {
  ids_ = std::make_shared<const std::vector<std::uint32_t>>(std::move(ids));
  words_ = *ids_;
}

std::string token_list::digest() const {
  if (!digest_.empty()) return digest_;
  sha256 hash;
  hash.add(words_.empty() ? bytes_ : std::as_bytes(words_));
  return hash.finish();
}

std::int64_t token_list::observed_vocabulary() const noexcept {
  if (!words_.empty()) return std::int64_t{*std::ranges::max_element(words_)} + 1;
  return bytes_.empty() ? 0 : std::to_integer<std::int64_t>(*std::ranges::max_element(bytes_)) + 1;
}

token_list token_list::bytes_of(const std::filesystem::path& text) {
  auto file = map_text(text);
  token_list result;
  result.bytes_ = file->bytes();
  result.file_ = std::move(file);
  return result;
}

token_list token_list::ids_of(const std::filesystem::path& path, std::int64_t vocabulary) {
  auto file = std::make_shared<const mapped_file>(path);
  const std::span<const std::byte> bytes = file->bytes();
  if (bytes.size() % sizeof(std::uint32_t) != 0)
    refuse(fmt::format("{} has {} bytes, which are not a whole number of uint32 ids", path.string(), bytes.size()));
  token_list result;
  result.words_ = {reinterpret_cast<const std::uint32_t*>(bytes.data()), bytes.size() / sizeof(std::uint32_t)};
  result.file_ = std::move(file);
  const auto wrong = std::ranges::find_if(result.words_, [=](std::uint32_t id) { return id >= vocabulary; });
  if (wrong != result.words_.end())
    refuse(fmt::format("{}: token {} at position {} is not below the vocabulary of {}", path.string(), *wrong,
                       wrong - result.words_.begin(), vocabulary));
  return result;
}

}  // namespace hydra
