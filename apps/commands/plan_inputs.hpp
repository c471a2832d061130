#pragma once
// What a plan prints beside shards and times: how records fill samples, and what optimizer groups hold.

#include "apps/workload/workload.hpp"
#include "models/data_source.hpp"
#include "models/optimizer/parameter_shares.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace hydra::apps {

using data_by_model = std::map<std::string, std::shared_ptr<const data_source>>;

/// One part of [data.NAME], read in samples of one length.
struct filled_samples {
  std::string data;  ///< NAME
  split part = split::train;
  record_census of;
  std::size_t samples = 0;
  std::size_t places = 0;    ///< of a sample
  std::uint64_t tokens = 0;  ///< in all samples; the other places are padding
};

/// Of data whose records have lengths of their own.
std::vector<filled_samples> fill_of(const workload& w, const data_by_model& sources);

struct model_shares {
  std::string model;
  std::vector<std::string> groups;  ///< the patterns of each
  std::vector<parameter_share> shares;
};

/// Of models whose parameters are not all stepped alike.
std::vector<model_shares> shares_of(const workload& w, const data_by_model& sources);

/// Empty if there is no row.
std::string to_table(const std::vector<filled_samples>& all);
std::string to_table(const std::vector<model_shares>& all);

nlohmann::ordered_json json_of(const std::vector<filled_samples>& all);
nlohmann::ordered_json json_of(const std::vector<model_shares>& all);

}  // namespace hydra::apps
