#include "actors/cluster/metrics_tail.hpp"

#include <algorithm>
#include <fstream>

namespace hydra {

std::string metrics_tail::read(std::size_t most) {
  std::ifstream in(file_, std::ios::binary);
  in.seekg(static_cast<std::streamoff>(read_));
  std::string text(most, '\0');
  in.read(text.data(), static_cast<std::streamsize>(most));
  text.resize(static_cast<std::size_t>(std::max<std::streamsize>(in.gcount(), 0)));
  const auto end = text.rfind('\n');
  text.resize(end == std::string::npos ? 0 : end + 1);
  read_ += text.size();
  return text;
}

}  // namespace hydra
