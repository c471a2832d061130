#pragma once
// Classes in config.json ("id2label"), and the config.json of what is exported.

#include "models/data_source.hpp"
#include "models/hub/model_config.hpp"

#include <nlohmann/json.hpp>

#include <string>

namespace hydra {

/// Classes that a checkpoint's classifier tells apart: those of "id2label", "num_labels", or transformers' default 2.
std::int64_t label_count(const model_config& config);

/// Throws fault_error{bad_input} "FILE: id2label: ..." unless the data have as many classes as the checkpoint.
void require_labels(const model_config& config, const data_source& data);

/// Adds "id2label" and "label2id" with the names that transformers gives to nameless classes.
void add_labels(nlohmann::json& table, std::int64_t classes);

/// The text of config.json for a model that began as `original`: all its keys, changed where `own` (another
/// config.json) says otherwise. Labels keep their names if there are as many. What is exported is fp32.
std::string exported_config(const nlohmann::json& original, const std::string& own);

}  // namespace hydra
