#include "actors/simulation/simulated_executor.hpp"

#include <algorithm>
#include <utility>

namespace hydra {

simulated_executor::simulated_executor(int workers, clock_reader now)
    : now_(std::move(now)), free_(static_cast<std::size_t>(workers)) {}

ticket simulated_executor::submit(std::function<void()>, duration estimate) {
  const auto now = now_();
  auto& worker = *std::ranges::min_element(free_);
  completion c{.operation = ticket{++last_}, .begin = std::max(worker, now), .end = {}, .error = {}};
  c.end = c.begin + estimate;
  worker = c.end;
  deliver_(c.end - now, c);
  return c.operation;
}

}  // namespace hydra
