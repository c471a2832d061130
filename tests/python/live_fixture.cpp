// Serves the live page of a run that only pretends: its models' losses fall, ten steps a second.
//
//     live_fixture FOLDER
//
// Prints the URL, and ends when its standard input is closed.

#include "apps/run_folder/folder_lock.hpp"
#include "apps/steering/control_server.hpp"
#include "apps/steering/live_page.hpp"
#include "tests/apps/steering/fake_steering.hpp"

#include <poll.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iostream>

namespace {

using hydra::apps::fake_model;

constexpr int period_ms = 100;

double loss_of(const fake_model& m, std::size_t index) {
  const double pace = 1 + 0.3 * static_cast<double>(index), step = m.steps;
  return 1.2 + 0.1 * pace + 2.5 * std::exp(-step / (20 * pace)) + 0.08 * std::sin(step * (1.1 + pace));
}

nlohmann::ordered_json line_of(const fake_model& m) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return {{"model", m.name},
          {"step", m.steps},
          {"steps", m.of},
          {"loss", m.loss},
          {"tokens", m.steps * 512},
          {"tokens_per_s", 5120},
          {"time", std::chrono::duration<double>(now).count()}};
}

void step(std::vector<fake_model>& models, std::ostream& metrics) {
  for (std::size_t i = 0; i < models.size(); ++i) {
    fake_model& m = models[i];
    if (m.state != "training") continue;
    ++m.steps;
    m.loss = loss_of(m, i);
    metrics << line_of(m).dump() << std::endl;
    if (m.steps == m.of) m.state = "finished";
  }
}

/// Returns after the period; false if standard input was closed.
bool goes_on() {
  pollfd input{STDIN_FILENO, POLLIN, 0};
  char ignored = 0;
  return ::poll(&input, 1, period_ms) == 0 || ::read(STDIN_FILENO, &ignored, 1) > 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return std::cerr << "usage: live_fixture FOLDER\n", 2;
  const std::filesystem::path folder = argv[1];
  std::filesystem::create_directories(folder);
  const hydra::apps::folder_lock lock{folder};
  std::ofstream{folder / "workload.toml"}
      << "[run]\nname = \"fixture\"\n[[model]]\nname = \"gpt-a\"\n[[model]]\nname = \"gpt-b\"\n"
         "[[model]]\nname = \"gpt-c\"\n";
  std::ofstream metrics{folder / "metrics.jsonl"};
  hydra::apps::fake_steering run{
      {{"gpt-a", "training", 0, 400}, {"gpt-b", "training", 0, 400}, {"gpt-c", "waiting", 0, 400}}};
  const hydra::apps::control_server socket{run, folder};
  const hydra::apps::live_page page{run, folder, {}};
  std::cout << page.url() << std::endl;
  while (goes_on()) run.change([&](auto& models) { step(models, metrics); });
}
