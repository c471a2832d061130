#include "actors/cluster/transfer_progress.hpp"

#include <fmt/format.h>

namespace hydra {

std::string transfer_progress::came(byte_count more, time_point now) {
  came_ += more;
  if (now - said_ < interval || came_ == byte_count{} || came_ >= size_) {
    return "";
  }
  said_ = now;
  const double share = static_cast<double>(came_.value()) / static_cast<double>(size_.value());
  const double left = seconds(now - began_) * (1 - share) / share;
  return fmt::format("{:.0f} %, {} of {}, {:.0f} s left", 100 * share, to_string(came_), to_string(size_), left);
}

}  // namespace hydra
