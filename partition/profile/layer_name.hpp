#pragma once
// A layer's kind as a person names it.

#include <string_view>

namespace hydra {

/// The words of a signature before its first option, KEY=VALUE: "llama block" of "llama block width=64 heads=2 ...".
std::string_view layer_name(std::string_view signature) noexcept;

}  // namespace hydra
