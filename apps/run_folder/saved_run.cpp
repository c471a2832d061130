#include "apps/run_folder/saved_run.hpp"

#include "apps/run_folder/added_models.hpp"
#include "apps/run_folder/recorded_data.hpp"
#include "apps/run_folder/run_folder.hpp"
#include "runtime/base/fault.hpp"
#include "runtime/base/nearest.hpp"
#include "runtime/base/path_kind.hpp"
#include "runtime/base/refuse.hpp"

#include <fmt/format.h>

#include <memory>
#include <vector>

namespace hydra::apps {

void refuse_run_of_program(const std::filesystem::path& run) {
  if (!is_of_program(run)) return;
  refuse(fmt::format(
      "\"{}\" is the run of a C++ program (it holds plan.json and no {}), and only that program has its chains "
      "and data: evaluate there, or read the run's checkpoints; docs/cpp.md says how",
      run.string(), workload_file));
}

workload read_run(const std::filesystem::path& run, const moved_bases& bases) {
  refuse_run_of_program(run);
  const auto file = run / workload_file;
  if (kind_of(file) == std::filesystem::file_type::not_found)
    refuse(fmt::format("\"{}\" is not a run folder: it holds no {}", run.string(), workload_file));
  const auto data = read_recorded_data(run);
  const auto began_in = data ? data->began_in : std::filesystem::path{};
  return read_models(file, bases.places(began_in, run), names_of(read_added(run)));
}

const model_entry& find_model(const workload& w, const std::string& name) {
  return find_known(to_string(w.file) + ": there is no model", w.models, name,
                    [](const model_entry& m) { return m.description.name; });
}

namespace {

std::shared_ptr<const data_source> data_of(const std::filesystem::path& run, const workload& w, const model_entry& m,
                                           const chain_description& description) {
  if (const auto known = read_recorded_data(run))
    if (const auto found = known->sources.find(m.description.name); found != known->sources.end()) return found->second;
  return open_data(w.data.at(m.data).description, description.wants());
}

}  // namespace

chain build_chain(const std::filesystem::path& run, const workload& w, const model_entry& m,
                  const chain_description& description) {
  return located(m.keys.where, "model", [&] { return description.build(*data_of(run, w, m, description)); });
}

}  // namespace hydra::apps
