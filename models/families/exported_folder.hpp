#pragma once
// A folder with a model that hydra_export has written, described as a chain.

#include "models/families/architecture.hpp"

#include <filesystem>

namespace hydra {

inline constexpr const char* exported_family = "exported";

/// The folder holds a graph.json.
bool is_exported(const std::filesystem::path& folder);

/// Throws fault_error{bad_input}: as exported_model does, and for options that change what the model is; a head says
/// what samples of text, i64[3, tokens], are.
chain_description describe_exported(const std::filesystem::path& folder, const from_options& options);

}  // namespace hydra
