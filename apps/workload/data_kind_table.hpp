#pragma once
// The rows of workload_data_kinds(), and rules that several of them have.

#include "apps/workload/data_kinds.hpp"

#include <string>
#include <vector>

namespace hydra::apps {

data_kind synthetic_language_kind();
data_kind synthetic_classes_kind();
data_kind text_kind();
data_kind tokens_kind();
data_kind jsonl_kind();
data_kind alpaca_kind();
data_kind prompt_completion_kind();
data_kind chat_kind();
data_kind csv_kind();
data_kind images_kind();
data_kind cifar_kind();
data_kind tensors_kind();

/// A count of symbols, tokens, samples.
key_rule count_rule(std::string name, double least, std::string fallback, std::string help);
key_rule seed_rule(std::string help);
/// A text without choices.
key_rule name_rule(std::string name, std::string fallback, std::string help);
/// Which label is which class.
key_rule label_rule();

/// `train` and `validation` files.
std::vector<key_rule> file_rules();

/// The same, each of which may be several; and the share of the training records that is for validation.
std::vector<key_rule> record_file_rules();

/// Several lists one after the other.
std::vector<key_rule> joined(std::vector<key_rule> first, std::vector<key_rule> second);

/// The labels of a list; none without the key.
std::vector<class_label> read_labels(const value_table& keys, std::string_view key);

}  // namespace hydra::apps
