#pragma once
// Classes in config.json ("id2label"), and the config.json of an export.

#include "models/data_source.hpp"
#include "models/families/catalog.hpp"
#include "models/weights/model_config.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace hydra {

/// Whether the classifier's classes have the names of the checkpoint: a new head has other classes.
enum class label_names : std::uint8_t { stored, fresh };

/// What the classes of a checkpoint's classifier are called, in their order: "id2label"; else transformers' default
/// names, of "num_labels" or 2. Throws fault_error{bad_input} with the key if a class has no name.
std::vector<std::string> stored_labels(const model_config& config);

/// Throws fault_error{bad_input} "FILE: id2label: ..." unless the data have as many classes as the checkpoint. Which
/// label is which class is decided where data are opened (class_names.hpp); data without names have the numbers of
/// classes.
void require_labels(const model_config& config, const std::vector<std::string>& stored, const data_source& data);

/// Adds "id2label" and "label2id" with the data's class names, or with transformers' default names if they have none.
void add_labels(nlohmann::json& table, const data_source& data);

/// The text of config.json for a model that started from `original`: all its keys, changed where `own` (another
/// config.json) differs. Stored labels keep their names if the data have none; with fresh ones the problem type is that
/// of Hydra's classifiers, too. Exports are fp32.
std::string exported_config(const nlohmann::json& original, const std::string& own, label_names names,
                            const data_source& data);

/// The description whose chains are exported with exported_config(); with stored labels it asks the data for these,
/// requires as many, and notes where the data call a class something else. Throws fault_error{bad_input} with the key
/// for a classifier whose stored labels are not mutually exclusive.
chain_description labelled(chain_description description, const model_config& config, label_names names);

}  // namespace hydra
