#pragma once
// Fields of records that nothing reads.

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace hydra {

/// Of one file. Names that say nothing about what is learnt (id, source, ...) are not kept.
class unread_fields {
 public:
  void add(std::string_view name);
  /// The members of an object that are not in `read`, unless they are null or empty. `of` stands before their names.
  void add(const nlohmann::json& object, const std::vector<std::string>& read, std::string_view of = "");

  bool contains(std::string_view name) const { return names_.contains(name); }

  /// For the user; `what` they are called in that kind of file. Empty if there are none. Where texts are read without a
  /// class, `class_key` is the key of [data.NAME] that names one: for a field
  /// that looks like it the note says how it is learnt.
  std::vector<std::string> notes(const std::filesystem::path& file, std::string_view what = "fields",
                                 std::string_view class_key = "") const;

 private:
  std::string way_to_classes(std::string_view class_key) const;

  std::set<std::string, std::less<>> names_;
};

}  // namespace hydra
