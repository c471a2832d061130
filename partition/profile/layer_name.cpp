#include "partition/profile/layer_name.hpp"

namespace hydra {

std::string_view layer_name(std::string_view signature) noexcept {
  const auto option = signature.find('=');
  if (option == std::string_view::npos) {
    return signature;
  }
  const auto end = signature.substr(0, option).rfind(' ');
  return signature.substr(0, end == std::string_view::npos ? 0 : end);
}

}  // namespace hydra
