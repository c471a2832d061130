#include "apps/commands/layer_kinds.hpp"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <map>
#include <set>
#include <sstream>

namespace hydra::apps {

namespace {

/// A signature: the words before the first with a = are its name; then come options, KEY=VALUE or a word such as
/// "frozen".
struct layer_kind {
  std::string name;
  std::vector<std::string> options;
};

bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }

/// Values of several parts have numbers after the first, "scaling=linear 8 4": alone they would say nothing.
bool continues_value(const std::string& word) {
  return word.find('=') == std::string::npos && !is_letter(word.front());
}

layer_kind parse_kind(const std::string& signature) {
  layer_kind k;
  std::istringstream words{signature};
  for (std::string word; words >> word;) {
    if (k.options.empty() && word.find('=') == std::string::npos)
      k.name += (k.name.empty() ? "" : " ") + word;
    else if (!k.options.empty() && continues_value(word))
      k.options.back() += " " + word;
    else
      k.options.push_back(word);
  }
  return k;
}

using option_set = std::set<std::string>;

/// By name: the options that all layers of this name have.
std::map<std::string, option_set> shared_options(std::span<const layer_kind> kinds) {
  std::map<std::string, option_set> shared;
  for (const layer_kind& k : kinds) {
    const option_set own{k.options.begin(), k.options.end()};
    const auto [known, first] = shared.emplace(k.name, own);
    if (!first) std::erase_if(known->second, [&](const std::string& option) { return !own.contains(option); });
  }
  return shared;
}

/// As many options as a column of a table has room for.
std::string kind_text(const layer_kind& k, const option_set& shared) {
  constexpr std::size_t widest_kind = 40;
  std::string text = k.name;
  for (const std::string& option : k.options) {
    if (shared.contains(option)) continue;
    if (text.size() + 1 + option.size() > widest_kind) return text + " ...";
    text += " " + option;
  }
  return text;
}

}  // namespace

std::vector<std::string> short_kinds(std::span<const layer_profile> layers) {
  std::vector<layer_kind> kinds;
  std::ranges::transform(layers, std::back_inserter(kinds), [](const layer_profile& l) { return parse_kind(l.kind); });
  const auto shared = shared_options(kinds);
  std::vector<std::string> texts;
  for (const layer_kind& k : kinds) texts.push_back(kind_text(k, shared.at(k.name)));
  return texts;
}

}  // namespace hydra::apps
