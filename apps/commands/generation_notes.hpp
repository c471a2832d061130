#pragma once
// generation_config.json, or what an old config.json says in its place: what of it `hydra generate` reads past.

#include <filesystem>
#include <set>
#include <string>
#include <vector>

namespace hydra::apps {

/// For the user: keys of the file in this folder by which transformers' generate() would write another text, and how
/// tokens are chosen, which options say, but not the keys in `said`, which they have decided. Sentences without an end;
/// none where there is no such file, nor a config.json with such keys. Throws fault_error{bad_input} for one that is
/// not JSON object.
std::vector<std::string> notes_on_generation(const std::filesystem::path& folder, const std::set<std::string>& said);

}  // namespace hydra::apps
