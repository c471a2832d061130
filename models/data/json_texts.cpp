#include "models/data/json_texts.hpp"

#include "models/data/json_array.hpp"
#include "runtime/base/trimmed.hpp"
#include "runtime/base/utf8.hpp"

#include <algorithm>

namespace hydra {
namespace {

bool begins_with_bracket(std::string_view text) {
  return trimmed_start(without_byte_order_mark(text)).starts_with('[');
}

}  // namespace

json_texts::json_texts(std::string_view all) : all_(all), array_(begins_with_bracket(all)) {}

void json_texts::each(const std::filesystem::path& file,
                      const std::function<bool(const json_record_text&)>& sink) const {
  if (array_) {
    json_array elements{file, all_};
    while (const auto text = elements.next())
      if (!sink({*text, static_cast<std::uint64_t>(text->data() - all_.data()), elements.number()})) return;
    return;
  }
  std::size_t number = 1;
  for (std::uint64_t begin = 0; begin < all_.size(); ++number) {
    const std::string_view line = line_at(begin);
    if (!trimmed_start(line).empty() && !sink({line, begin, number})) return;
    begin += line.size() + 1;
  }
}

std::string_view json_texts::at(const std::filesystem::path& file, std::uint64_t begin) const {
  return array_ ? json_array::element_at(file, all_, begin) : line_at(begin);
}

std::size_t json_texts::number_of(const std::filesystem::path& file, std::uint64_t begin) const {
  if (!array_) return 1 + static_cast<std::size_t>(std::ranges::count(all_.substr(0, begin), '\n'));
  json_array elements{file, all_};
  while (const auto text = elements.next())
    if (text->data() >= all_.data() + begin) break;
  return elements.number();
}

std::string_view json_texts::line_at(std::uint64_t begin) const {
  return all_.substr(begin, std::min(all_.find('\n', begin), all_.size()) - begin);
}

}  // namespace hydra
