#pragma once
// Checks values that only tables of data have.

#include "apps/workload/check_leaf.hpp"

#include <cstddef>

namespace hydra::apps {

/// Each throws fault_error{bad_input} unless the value is what its kind (key_rule.hpp) allows.
void check_paths(const value_site& site);
void check_files(const value_site& site);
void check_tokenizer(const value_site& site);
void check_field_text(const value_site& site);
void check_chat_template(const value_site& site);
void check_labels(const value_site& site);

/// A list of so many integers of at least 1.
void check_image_size(const value_site& site, std::size_t numbers);

}  // namespace hydra::apps
