#pragma once
// JSON Lines of texts and questions of many lengths.

#include <fmt/format.h>

#include <string>

namespace hydra::test {

/// `n` records of the fields "q" (often empty) and "a"; each takes at most 32 bytes.
inline std::string question_lines(std::size_t n) {
  std::string lines;
  for (std::size_t i = 0; i < n; ++i) {
    const std::string question(i * 7 % 12, static_cast<char>('a' + i % 26)),
        answer(1 + i * 5 % 17, static_cast<char>('A' + i * i % 26));
    lines += fmt::format("{{\"q\": \"{}\", \"a\": \"{}{}\"}}\n", question, answer, i % 10);
  }
  return lines;
}

}  // namespace hydra::test
