#pragma once
// plan.json: a saved plan, to be inspected and to be used again without a pilot pass.

#include "partition/plan/plan.hpp"

#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>

namespace hydra {

/// Models with shards, bytes and times; profiles by fingerprint.
std::string to_json(const workload_plan& plan);

/// What a later run takes from a plan.
struct saved_plan {
  struct saved_model {
    cut_points cuts;
    std::size_t layers = 0;
  };
  std::string source;  ///< the file, for messages
  std::map<std::string, saved_model> models;
  profile_set profiles;
};

/// Throws fault_error{bad_input} naming the file and what is wrong with it.
saved_plan load_plan(const std::filesystem::path& file);
/// The same for a text.
saved_plan parse_plan(std::string_view text, std::string source);

/// What a schedule needs of a plan: bytes and times of all its models, the staging bytes; not their evaluation, which a
/// plan file does not contain. Throws as parse_plan does.
workload_plan parse_costs(std::string_view text, std::string source);

/// Cuts of the model of that name. Throws fault_error{bad_input} if there is none, or if it had another number of
/// layers.
cut_points cuts_for(const saved_plan& plan, const std::string& model, std::size_t layers);

}  // namespace hydra
