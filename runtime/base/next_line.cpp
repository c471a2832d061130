#include "runtime/base/next_line.hpp"

#include <streambuf>

namespace hydra {

bool next_line(std::istream& in, std::string& line) {
  using traits = std::istream::traits_type;
  line.clear();
  if (!in || in.peek() == traits::eof()) return false;
  std::streambuf& from = *in.rdbuf();
  for (auto c = from.sbumpc(); c != traits::eof() && c != '\n'; c = from.sbumpc())
    if (line.size() < longest_line) line.push_back(traits::to_char_type(c));
  return true;
}

}  // namespace hydra
