#include "apps/commands/unexpected_words.hpp"

#include "apps/run_folder/shell_word.hpp"
#include "apps/workload/other_tools.hpp"
#include "runtime/base/nearest.hpp"
#include "runtime/base/shown_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <string_view>
#include <utility>

namespace hydra::apps {

namespace {

/// What other programs call an option.
struct other_option {
  std::string_view word, here;
};

constexpr other_option other_options[]{{"head", "show"},        {"limit", "show"},       {"n", "show"},
                                       {"num-samples", "show"}, {"num_samples", "show"}, {"samples", "show"}};

/// "--lr=1e-3", "lr=1e-3" or "--lr".
struct unexpected_argument {
  std::string text;
  std::string name;   ///< with its dashes
  std::string value;  ///< empty without "="

  bool is_option() const { return text.starts_with('-'); }
  bool is_assignment() const { return name.size() < text.size(); }
};

/// A value that cannot be another argument.
bool is_plain_value(const std::string& text) {
  char* end = nullptr;
  std::strtod(text.c_str(), &end);
  return text == "true" || text == "false" || (!text.empty() && *end == '\0');
}

unexpected_argument read_argument(const std::vector<std::string>& all, std::size_t i) {
  const std::size_t equals = all[i].find('=');
  unexpected_argument a{all[i], all[i].substr(0, equals), ""};
  if (equals != std::string::npos)
    a.value = all[i].substr(equals + 1);
  else if (i + 1 < all.size() && is_plain_value(all[i + 1]))
    a.value = all[i + 1];
  return a;
}

std::string line_on_word(const unexpected_argument& a, const other_word& word) {
  const std::string line = fmt::format("{}: {}", shown(a.name), describe(word));
  if (word.key.empty()) return line;
  const std::string set = fmt::format("{}={}", word.key, a.value.empty() ? "VALUE" : a.value);
  return fmt::format("{}; give it by --set {}", line, shell_word(set));
}

std::string_view without_dashes(std::string_view option) {
  return option.substr(std::min(option.find_first_not_of('-'), option.size()));
}

/// One of the command's `options`, whatever a workload has of this name; empty if other programs call none of them so.
std::string option_here(std::string_view word, const std::vector<std::string>& options) {
  for (const other_option& o : other_options)
    if (o.word == word && std::ranges::count(options, o.here) > 0) return std::string{o.here};
  return "";
}

/// Empty if nothing is known of it.
std::string line_on(const unexpected_argument& a, const std::vector<std::string>& options) {
  if (!a.is_option() && !a.is_assignment()) return "";
  const std::string_view option = a.is_option() ? without_dashes(a.name) : "";
  if (const std::string here = option_here(option, options); !here.empty())
    return fmt::format("{}: here it is --{} {}", shown(a.name), here, a.value.empty() ? "VALUE" : shown(a.value));
  const bool sets = std::ranges::count(options, "set") > 0;
  const other_word* const word = find_other_word(a.name);
  if (word && (sets || word->key.empty())) return line_on_word(a, *word);
  if (sets && !a.is_option())
    return fmt::format("{}: a key of the workload is set by --set {}", shown(a.name), shell_word(a.text));
  const std::string near = a.is_option() ? near_name(option, options) : "";
  return near.empty() ? "" : fmt::format("{}: did you mean --{}?", shown(a.name), near);
}

/// Words before an option, whose value another one may be: where texts are continued they are such a text, or one of
/// them is a model, as hydra export takes it.
std::string line_on_text(const std::vector<std::string>& arguments, const std::vector<std::string>& options) {
  if (std::ranges::count(options, "prompt") == 0) return "";
  const auto end = std::ranges::find_if(arguments, [](const std::string& a) { return a.starts_with('-'); });
  if (end == arguments.begin()) return "";
  const std::string text = shell_word(fmt::format("{}", fmt::join(arguments.begin(), end, " ")));
  const bool may_be_model = end == arguments.begin() + 1 && std::ranges::count(options, "model") > 0;
  return fmt::format("a text to continue is given by --prompt {0}, a message to answer by --chat {0}{1}", text,
                     may_be_model ? ", a model of a run by --model " + text : "");
}

}  // namespace

std::vector<std::string> lines_on_unexpected(const std::vector<std::string>& arguments,
                                             const std::vector<std::string>& options) {
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < arguments.size(); ++i)
    if (std::string line = line_on(read_argument(arguments, i), options); !line.empty())
      lines.push_back(std::move(line));
  if (std::string line = line_on_text(arguments, options); !line.empty()) lines.push_back(std::move(line));
  return lines;
}

}  // namespace hydra::apps
