#include "models/families/exported_folder.hpp"

#include "models/exported/exported_chain.hpp"
#include "models/exported/sample_rows.hpp"
#include "runtime/base/path_kind.hpp"
#include "runtime/base/refuse.hpp"
#include "runtime/base/shown_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>

namespace hydra {

namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse_option(const fs::path& folder, const char* option) {
  refuse(folder,
         fmt::format("{} was decided when the model was exported: leave it out, or export the model again", option));
}

sample_form form_of(const fs::path& folder, const std::string& head) {
  if (head.empty()) return sample_form::causal;
  if (head == "masked-lm") return sample_form::masked;
  if (head == "classification") return sample_form::labelled;
  refuse(folder, fmt::format("head: \"{}\" is none of \"masked-lm\" and \"classification\"", shown(head)));
}

/// A head says what the three rows of a sample of text are.
bool takes_head(const exported_graph& g) {
  const std::vector<sample_part> parts = parts_of_sample(g.inputs);
  return is_plain(g.inputs, g.numbers) && g.inputs[0].type == value_type::i64 && parts[0].shape.size() == 2 &&
         parts[0].shape[0] == 3;
}

/// What samples it asks for.
void request(chain_description& d, const exported_graph& g) {
  const std::vector<sample_part> parts = parts_of_sample(g.inputs);
  if (!is_plain(g.inputs, g.numbers))
    std::ranges::transform(parts, std::back_inserter(d.inputs), &sample_part::name);
  else if (g.inputs[0].type == value_type::i64 && !parts[0].shape.empty())
    d.context = parts[0].shape.back();
  else if (parts[0].shape.size() == 3)
    d.image = parts[0].shape;
}

}  // namespace

bool is_exported(const fs::path& folder) { return kind_of(folder / "graph.json") == fs::file_type::regular; }

chain_description describe_exported(const fs::path& folder, const from_options& options) {
  if (options.context != 0) refuse_option(folder, "context");
  if (options.dropout >= 0) refuse_option(folder, "dropout");
  if (!options.tokens.empty()) refuse_option(folder, "tokens");
  const auto model = std::make_shared<const exported_model>(folder);
  chain_description d{.family = exported_family,
                      .build = [model](const data_source& data) { return exported_chain(model, data); }};
  if (!options.head.empty() && !takes_head(model->graph())) refuse_option(folder, "head");
  d.form = form_of(folder, options.head);
  d.checkpoint = folder;
  request(d, model->graph());
  return d;
}

}  // namespace hydra
