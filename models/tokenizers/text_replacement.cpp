#include "models/tokenizers/text_replacement.hpp"

#include <utility>

namespace hydra {

namespace {

/// Searches a literal text.
class literal_search {
 public:
  literal_search(const std::string& what, std::string_view text) : what_{what}, text_{text} {}

  std::optional<pattern_search::found> next() {
    const std::size_t begin = text_.find(what_, from_);
    if (begin == text_.npos) return std::nullopt;
    from_ = begin + what_.size();
    return pattern_search::found{begin, from_};
  }

 private:
  const std::string& what_;
  std::string_view text_;
  std::size_t from_ = 0;
};

template <class Search>
std::optional<std::string> replaced(Search search, std::string_view text, const std::string& content) {
  auto found = search.next();
  if (!found) return std::nullopt;
  std::string made;
  made.reserve(text.size() + text.size() / 2);
  std::size_t done = 0;
  for (; found; found = search.next()) {
    made.append(text.substr(done, found->begin - done)).append(content);
    done = found->end;
  }
  return made.append(text.substr(done));
}

}  // namespace

text_replacement::text_replacement(std::variant<std::string, split_pattern> what, std::string content)
    : what_{std::move(what)}, content_{std::move(content)} {}

std::optional<std::string> text_replacement::apply(std::string_view text) const {
  if (const auto* const literal = std::get_if<std::string>(&what_))
    return replaced(literal_search{*literal, text}, text, content_);
  const auto& pattern = std::get<split_pattern>(what_);
  auto search = pattern_search{pattern, text};
  return replaced<pattern_search&>(search, text, content_);
}

}  // namespace hydra
