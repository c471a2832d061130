#include "models/data/json_array.hpp"

#include "models/data/json_line.hpp"
#include "runtime/base/json_text.hpp"
#include "runtime/base/refuse.hpp"
#include "runtime/base/shown_text.hpp"
#include "runtime/base/trimmed.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace hydra {

json_array::json_array(const std::filesystem::path& file, std::string_view all)
    : file_(file), all_(all), at_(all.find('[') + 1) {}

std::optional<std::string_view> json_array::next() {
  skip_blanks();
  if (here(']')) {
    finish();
    return std::nullopt;
  }
  if (number_ > 0) {
    if (!here(',')) refuse_here(fmt::format("a comma or ] is expected after record {}", number_));
    ++at_;
    skip_blanks();
  }
  ++number_;
  begin_ = at_;
  skip_value();
  return all_.substr(begin_, at_ - begin_);
}

std::string_view json_array::element_at(const std::filesystem::path& file, std::string_view all, std::size_t begin) {
  json_array one{file, all};
  one.at_ = one.begin_ = begin;
  one.skip_value();
  return all.substr(begin, one.at_ - begin);
}

void json_array::skip_blanks() noexcept { at_ = std::min(all_.find_first_not_of(ascii_blanks, at_), all_.size()); }

void json_array::finish() {
  ++at_;
  skip_blanks();
  if (at_ < all_.size()) refuse_here("the array has ended; a file is JSON lines or one array");
}

void json_array::skip_value() {
  if (here('{') || here('[')) return skip_brackets();
  if (here('"')) return skip_text();
  at_ = std::min(all_.find_first_of(",[]{}\" \t\r\n", at_), all_.size());
  if (at_ == begin_) refuse_here(fmt::format("record {} is expected", number_));
}

void json_array::skip_brackets() {
  std::string open;
  do {
    at_ = std::min(all_.find_first_of("{}[]\"", at_), all_.size());
    if (here('"')) {
      skip_text();
      continue;
    }
    if (here('{') || here('['))
      open.push_back(here('{') ? '}' : ']');
    else if (here(open.back()))
      open.pop_back();
    else
      refuse_here(fmt::format("{} of record {}, which begins at byte {}, is expected", open.back(), number_, begin_));
    if (open.size() > deepest_json)
      line_site{file_, number_, true}.refuse(fmt::format("is nested more than {} deep", deepest_json));
    ++at_;
  } while (!open.empty());
}

/// A line break in a text is no JSON: where a quote is missing, what follows is not taken for a part of the text.
void json_array::skip_text() {
  for (++at_; at_ < all_.size() && all_[at_] != '\n'; ++at_) {
    if (all_[at_] == '"') {
      ++at_;
      return;
    }
    if (all_[at_] == '\\') ++at_;
  }
  at_ = std::min(at_, all_.size());
  refuse_here(fmt::format("the quote that ends a text of record {} is expected", number_));
}

void json_array::refuse_here(const std::string& expected) const {
  const std::string found =
      at_ == all_.size() ? "the file ends" : fmt::format("there is \"{}\"", shown(all_.substr(at_, 1)));
  refuse(file_, fmt::format("{} at byte {}, where {}", found, at_, expected));
}

}  // namespace hydra
