#pragma once
// Parts of HTML pages: a frame, sections, tables. All of it is well-formed XML.

#include <string>
#include <vector>

namespace hydra::apps {

struct column {
  std::string title;
  bool numeric = false;
};

/// The cells are HTML already.
std::string row_of(const std::vector<column>& columns, const std::vector<std::string>& cells);

/// A table with the columns' titles above `rows`.
std::string table_of(const std::vector<column>& columns, const std::string& rows);

/// The same of rows, without columns in which no row has a value; "-" is none. Empty without rows.
std::string table_of(const std::vector<column>& columns, const std::vector<std::vector<std::string>>& rows);

/// A section with a title; an empty text if there is no content.
std::string section(const std::string& title, const std::string& content, const std::string& note = "");

/// One file that needs nothing else, light and dark, on a screen and on paper. `version` is the program's.
std::string page_of(const std::string& title, const std::string& body, const std::string& version,
                    const std::string& more_style = "");

}  // namespace hydra::apps
