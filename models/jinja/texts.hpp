#pragma once
// Python's functions of texts. Positions and lengths are in code points; texts are UTF-8.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hydra::jinja {

/// The bytes of the first code point. `text` is not empty.
std::string_view first_letter(std::string_view text);
std::vector<std::string_view> letters_of(std::string_view text);

bool is_space(std::string_view letter);               ///< str.isspace()
bool is_plain(std::string_view letter);               ///< repr() shows it as it is
std::string escaped_letter(std::string_view letter);  ///< as repr() shows it otherwise: "\x1b", "\u2028"

/// Which ends are cut.
struct cut_ends {
  bool left = true, right = true;
};
/// Without white space, or code points of `letters`.
std::string_view stripped(std::string_view text, cut_ends ends = {});
std::string_view stripped(std::string_view text, std::string_view letters, cut_ends ends);

/// At white space; the last part is the rest after `most` parts.
std::vector<std::string_view> split_at_space(std::string_view text, std::size_t most);
/// `mark` is not empty.
std::vector<std::string_view> split_at(std::string_view text, std::string_view mark, std::size_t most);
/// The same from the right: the first part is the rest.
std::vector<std::string_view> split_from_right(std::string_view text, std::string_view mark, std::size_t most);

std::string replaced(std::string_view text, std::string_view from, std::string_view to, std::size_t most);

// Throw complaint for letters of which Hydra does not know the other case.
std::string lowered(std::string_view text);
std::string uppered(std::string_view text);
std::string capitalized(std::string_view text);
std::string titled(std::string_view text);           ///< str.title()
std::string titled_by_jinja(std::string_view text);  ///< Jinja's filter: "it's" has one word

std::string json_quoted(std::string_view text, bool ascii);

}  // namespace hydra::jinja
