#include "apps/commands/saved_run.hpp"

#include "apps/commands/run_folder.hpp"
#include "runtime/fault.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <vector>

namespace hydra::apps {

namespace {

[[noreturn]] void refuse(const std::string& text) { throw fault_error{fault_code::bad_input, text}; }

}  // namespace

workload read_run(const std::filesystem::path& run) {
  const auto file = run / workload_file;
  if (!std::filesystem::is_regular_file(file))
    refuse(fmt::format("\"{}\" is no run folder: it holds no {}", run.string(), workload_file));
  return read_models(file);
}

const model_entry& find_model(const workload& w, const std::string& name) {
  std::vector<std::string> known;
  std::ranges::transform(w.models, std::back_inserter(known), [](const auto& m) { return m.description.name; });
  const auto found = std::ranges::find(known, name);
  if (found == known.end())
    refuse(fmt::format("{}: there is no model \"{}\"; {}", to_string(w.file), name, did_you_mean(name, known)));
  return w.models[static_cast<std::size_t>(found - known.begin())];
}

chain build_chain(const workload& w, const model_entry& m, const chain_description& description) {
  const data_entry& data = w.data.at(m.data);
  return located(m.keys.where, "model",
                 [&] { return description.build(*open_data(data.description, description.wants())); });
}

}  // namespace hydra::apps
