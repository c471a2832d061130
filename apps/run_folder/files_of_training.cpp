#include "apps/run_folder/files_of_training.hpp"

#include "actors/admission/identity.hpp"
#include "models/tokenizers/tokenizer.hpp"
#include "partition/checkpoint/saved_model.hpp"
#include "runtime/base/path_kind.hpp"
#include "runtime/base/refuse.hpp"
#include "runtime/base/shown_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace hydra::apps {

namespace {

namespace fs = std::filesystem;

/// The files of a folder from which a chain is made.
std::string maker_of(const chain_description& d) {
  const bool has_config = kind_of(d.checkpoint / "config.json") == fs::file_type::regular;
  const std::string base = (has_config ? d.checkpoint / "config.json" : d.checkpoint).string();
  return d.adapter.empty() ? base : fmt::format("{}, with {}", base, (d.adapter / "adapter_config.json").string());
}

/// tokenizer::identity() of the one that the data were read by; empty if none is recorded.
std::string recorded_tokenizer(const saved_model& saved) {
  const std::string files = saved.identity_line("files");
  for (const std::string by : {" by sha256:", " by bytes"})
    if (const auto at = files.find(by); at != std::string::npos) {
      const auto begin = at + std::string{" by "}.size();
      return files.substr(begin, files.find_first_of(" ,", begin) - begin);
    }
  return "";
}

/// Whether the checkpoint's line about its data names a tokenizer.
bool names_tokenizer(const saved_model& saved) {
  return saved.identity_line("data").find(", tokenizer ") != std::string::npos;
}

[[noreturn]] void refuse_bytes(const fs::path& checkpoint, const sample_request& wants) {
  refuse(fmt::format(
      "{} was trained on bytes; now data without a tokenizer are read by the tokenizer of {}. Write tokenizer = "
      "\"bytes\" into the [data.NAME] of the run's workload.toml",
      checkpoint.string(), wants.tokenizer_folder().string()));
}

}  // namespace

void require_chain_of_training(const fs::path& checkpoint, const chain_description& description, const chain& now) {
  if (description.checkpoint.empty()) return;
  const saved_model saved = read_checkpoint(checkpoint);
  const std::string other = difference_of_layers(saved.identity, now);
  if (other.empty()) return;
  refuse(
      fmt::format("{} was trained with other settings than {} has now: {}. Put the settings back as they were, or "
                  "give the folder that {} began from by --base",
                  checkpoint.string(), maker_of(description), other, shown(saved.name)));
}

void require_tokenizer_of_training(const fs::path& checkpoint, const data_description& data,
                                   const sample_request& wants) {
  const auto choice = tokenizer_for(data, wants);
  const saved_model saved = read_checkpoint(checkpoint);
  if (choice != tokenizer_for(data, {}) && !names_tokenizer(saved)) refuse_bytes(checkpoint, wants);
  const std::string before = choice ? recorded_tokenizer(saved) : "";
  if (before.empty()) return;
  const auto now = open_tokenizer(*choice);
  if (now->identity() == before) return;
  const bool of_base = !wants.checkpoint.empty() && choice->file == wants.checkpoint;
  refuse(
      fmt::format("{} was trained with another tokenizer: {} (saved), {} (now: {}). Put its files back as they were{}",
                  checkpoint.string(), before, now->identity(), now->describe(),
                  of_base ? fmt::format(", or give the folder that {} began from by --base", shown(saved.name)) : ""));
}

}  // namespace hydra::apps
