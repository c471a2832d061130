#pragma once
// The few pieces of HTML and SVG that the page is made of. What they return is well-formed XML.

#include <string>
#include <string_view>

namespace hydra::apps {

/// Text as it may stand between tags and in quoted attributes; characters that XML forbids are left out.
std::string escaped(std::string_view text);

/// A coordinate with one decimal at most: "12.5", "3". What is not finite becomes 0: no NaN may reach a page.
std::string coordinate(double x);

/// "<text ...>content</text>"; `anchor` is start, middle or end. The content is escaped.
std::string svg_text(double x, double y, std::string_view anchor, std::string_view content);

/// A path's piece: the rectangle from (x, y), `width` to the right and `height` down.
std::string rectangle_path(double x, double y, double width, double height);

/// Colour of the i-th of several things, readable on light and on dark ground.
std::string colour_of(std::size_t i);

}  // namespace hydra::apps
