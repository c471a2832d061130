#include "tests/apps/report/xml_check.hpp"

#include <algorithm>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

namespace hydra::apps {

namespace {

const std::regex stray_ampersand{"&(?!(amp|lt|gt|quot|#39);)"};

/// Takes a name from the front of `text`; empty if there is none.
std::string_view take_name(std::string_view& text) {
  constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_:-";
  const auto n = std::min(text.find_first_not_of(letters), text.size());
  const auto name = text.substr(0, n);
  text.remove_prefix(n);
  return name;
}

void skip_spaces(std::string_view& text) { text.remove_prefix(std::min(text.find_first_not_of(" \n\t"), text.size())); }

/// Takes NAME="VALUE" and the spaces before it. By hand: values are long, and std::regex recurses for each character.
bool take_attribute(std::string_view& text) {
  skip_spaces(text);
  if (take_name(text).empty() || !text.starts_with("=\"")) return false;
  const auto end = text.find('"', 2);
  if (end == std::string_view::npos || text.substr(0, end).find('<') != std::string_view::npos) return false;
  text.remove_prefix(end + 1);
  return true;
}

/// Opens, closes or does both; empty, or what is wrong.
std::string take_tag(const std::string& tag, std::vector<std::string>& open) {
  if (tag.starts_with("!DOCTYPE")) return "";
  std::string_view rest{tag};
  const bool closes = rest.starts_with('/');
  rest.remove_prefix(closes ? 1 : 0);
  const std::string name{take_name(rest)};
  while (rest.starts_with(' ') || rest.starts_with('\n'))
    if (!take_attribute(rest)) break;
  if (name.empty() || !(rest.empty() || (rest == "/" && !closes))) return "no tag: <" + tag + ">";
  if (!closes && rest.empty()) open.push_back(name);
  if (!closes) return "";
  if (open.empty() || open.back() != name) return "</" + name + "> closes nothing";
  open.pop_back();
  return "";
}

}  // namespace

std::string xml_fault(std::string_view text) {
  const std::string all{text};
  std::smatch m;
  if (std::regex_search(all, m, stray_ampersand)) return "stray & before " + m.suffix().str().substr(0, 20);
  std::vector<std::string> open;
  for (auto begin = text.find('<'); begin != std::string_view::npos; begin = text.find('<', begin + 1)) {
    const auto end = text.find('>', begin);
    if (end == std::string_view::npos) return "a tag does not end";
    const std::string tag{text.substr(begin + 1, end - begin - 1)};
    if (const std::string wrong = take_tag(tag, open); !wrong.empty()) return wrong;
  }
  return open.empty() ? "" : "<" + open.back() + "> is not closed";
}

}  // namespace hydra::apps
