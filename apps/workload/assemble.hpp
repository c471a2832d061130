#pragma once
// Workload -> session.

#include "actors/session/session.hpp"
#include "apps/workload/workload.hpp"
#include "models/data_source.hpp"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace hydra::apps {

/// Opens what the models of a workload read, and builds every chain once, so that incompatible settings are refused
/// with the line they were written in. Models with the same data and context share a source.
class model_opener {
 public:
  explicit model_opener(const workload& w);
  ~model_opener();

  /// `written`: all models that were written with it. `search`: if it is a trial of one. Throws fault_error{bad_input}.
  model_description open(const model_entry& m, const std::vector<model_entry>& written,
                         const std::optional<search_settings>& search = std::nullopt);

 private:
  struct opened_files;
  std::unique_ptr<opened_files> files_;
};

/// Adds devices, policy and models. Returns the source of each model by its name.
std::map<std::string, std::shared_ptr<const data_source>> assemble(session& into, const workload& from,
                                                                   model_opener& opener);
void assemble(session& into, const workload& from);

}  // namespace hydra::apps
