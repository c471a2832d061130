#pragma once
// Classes in config.json ("id2label"), and the config.json of an export.

#include "models/data_source.hpp"
#include "models/families/catalog.hpp"
#include "models/weights/model_config.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <string>

namespace hydra {

/// Whether the classifier's classes have the names of the checkpoint: a new head has other classes.
enum class label_names : std::uint8_t { stored, fresh };

/// Number of classes of a checkpoint's classifier: those of "id2label", "num_labels", or transformers' default 2.
std::int64_t label_count(const model_config& config);

/// Throws fault_error{bad_input} "FILE: id2label: ..." unless the data have as many classes as the checkpoint. The user
/// must make sure that class i of the data is the checkpoint's label i: names are not compared, because many data have
/// none.
void require_labels(const model_config& config, const data_source& data);

/// Adds "id2label" and "label2id" with the data's class names, or with transformers' default names if they have none.
void add_labels(nlohmann::json& table, const data_source& data);

/// The text of config.json for a model that started from `original`: all its keys, changed where `own` (another
/// config.json) differs. Labels keep their names if those are the stored ones and there are as many; with fresh ones
/// the problem type is that of Hydra's classifiers, too. Exports are fp32.
std::string exported_config(const nlohmann::json& original, const std::string& own, label_names names);

/// The description whose chains are exported with exported_config(); with stored labels it requires data with as many
/// classes. Throws fault_error{bad_input} with the key for a classifier whose stored labels are not mutually exclusive.
chain_description labelled(chain_description description, const model_config& config, label_names names);

}  // namespace hydra
