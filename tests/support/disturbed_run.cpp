#include "tests/support/disturbed_run.hpp"

#include "tests/support/eager_policy.hpp"
#include "tests/support/overhear.hpp"
#include "tests/support/protocol_witness.hpp"

#include <chrono>
#include <memory>
#include <utility>

using namespace std::chrono_literals;

namespace hydra::test {

std::vector<simulated_model> small_models() {
  std::vector models{even_model("a", 2, 2, 20us, 10us), even_model("b", 3, 2, 20us, 10us)};
  for (auto& m : models) {
    m.micro_batches = 2;
    for (auto& s : m.shards) {
      s.activation = bytes_of(4us);
      s.update = 3us;
      s.working = bytes_of(30us);
      s.write_back = bytes_of(18us);
    }
  }
  return models;
}

simulation_setup small_run(std::size_t devices, std::uint32_t slots) {
  auto setup = even_run(small_models(), devices);
  for (auto& d : setup.devices) {
    d.memory = byte_count{512 * 120};
  }
  setup.pipeline.slots = slots;
  if (slots > 1) {
    setup.chosen = std::make_unique<eager_policy>(std::move(setup.chosen));
  }
  setup.pipeline.staging_bytes = byte_count{512 * 36};
  return setup;
}

std::size_t run_disturbed(simulation& s, std::size_t at, const std::function<void()>& disturb, std::uint32_t slots,
                          std::string& complaint) {
  protocol_witness witness(s, {.pipeline = {.slots = slots}, .untroubled = false});
  std::size_t n = 0;
  do {
    if (n++ == at) {
      disturb();
    }
    if (const auto m = overhear(s)) {
      witness.notify(*m);
    } else if (!s.next()) {
      witness.rest();
    }
  } while (s.step());
  complaint = witness.complaint();
  return n;
}

}  // namespace hydra::test
