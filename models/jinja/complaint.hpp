#pragma once
// What is wrong in a template, before its file and line are known. Standard library only.

#include <cstddef>
#include <string>
#include <utility>

namespace hydra::jinja {

struct complaint {
  std::string text;
  std::size_t line = 0;  ///< 0: the place that is being run knows it
};

[[noreturn]] inline void complain(std::string text, std::size_t line = 0) { throw complaint{std::move(text), line}; }

}  // namespace hydra::jinja
