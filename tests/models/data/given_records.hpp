#pragma once
// Records without a file.

#include "models/data/record_list.hpp"

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace hydra::test {

class given_records final : public record_list {
 public:
  explicit given_records(std::vector<text_record> all) : all_(std::move(all)) {
    for (std::size_t i = 0; i < all_.size(); ++i) labels_.try_emplace(all_[i].label, "given", i + 1);
  }
  std::size_t size() const override { return all_.size(); }
  text_record record(std::size_t i) const override { return all_.at(i); }
  const label_census& labels() const override { return labels_; }
  const std::filesystem::path& file() const override { return file_; }
  std::string identity() const override { return "given"; }

 private:
  std::vector<text_record> all_;
  label_census labels_;
  std::filesystem::path file_ = "given";
};

}  // namespace hydra::test
