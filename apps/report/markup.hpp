#pragma once
// Functions that write pieces of HTML and SVG. What they return is well-formed XML.

#include <string>
#include <string_view>

namespace hydra::apps {

/// Escapes text for use between tags and in quoted attributes; characters that XML forbids are left out.
std::string escaped(std::string_view text);

/// A coordinate with at most one decimal: "12.5", "3". Values that are not finite become 0: no NaN may reach a page.
std::string coordinate(double x);

/// "<text ...>content</text>"; `anchor` is start, middle or end. The content is escaped.
std::string svg_text(double x, double y, std::string_view anchor, std::string_view content);

/// A rectangle as part of a path: from (x, y), `width` to the right and `height` down.
std::string rectangle_path(double x, double y, double width, double height);

/// Colour of the i-th of several things, readable on light and on dark background.
std::string colour_of(std::size_t i);

}  // namespace hydra::apps
