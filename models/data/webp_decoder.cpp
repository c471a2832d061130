#include "models/data/image_decoders.hpp"
#include "models/data/image_orientation.hpp"
#include "runtime/base/refuse.hpp"

#include <memory>

#include <webp/demux.h>

namespace hydra {
namespace {

using demuxer = std::unique_ptr<WebPDemuxer, decltype(&WebPDemuxDelete)>;
using animation = std::unique_ptr<WebPAnimDecoder, decltype(&WebPAnimDecoderDelete)>;

WebPData webp_data(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()};
}

/// A piece of the file, which stays in it; empty if it has none of this name.
std::string_view chunk_of(const demuxer& parts, const char* name) {
  WebPChunkIterator at;
  if (!WebPDemuxGetChunk(parts.get(), name, 1, &at)) return {};
  const std::string_view found{reinterpret_cast<const char*>(at.chunk.bytes), at.chunk.size};
  WebPDemuxReleaseChunkIterator(&at);
  return found;
}

image_header webp_header(std::span<const std::byte> bytes) {
  const WebPData data = webp_data(bytes);
  const demuxer parts{WebPDemux(&data), WebPDemuxDelete};
  if (!parts) refuse("it is damaged, or its end is missing");
  return {{WebPDemuxGetI(parts.get(), WEBP_FF_CANVAS_HEIGHT), WebPDemuxGetI(parts.get(), WEBP_FF_CANVAS_WIDTH)},
          orientation_of({chunk_of(parts, "EXIF"), chunk_of(parts, "XMP ")}),
          WebPDemuxGetI(parts.get(), WEBP_FF_FRAME_COUNT) > 1};
}

image decode_webp(std::span<const std::byte> bytes) {
  const WebPData data = webp_data(bytes);
  const animation frames{WebPAnimDecoderNew(&data, nullptr), WebPAnimDecoderDelete};
  std::uint8_t* rgba = nullptr;
  int time = 0;
  if (!frames || !WebPAnimDecoderGetNext(frames.get(), &rgba, &time)) refuse("its pixels are damaged");
  image result = image::blank(webp_header(bytes).size, 3);
  for (std::size_t i = 0; i < result.pixels.size(); ++i) result.pixels[i] = rgba[i / 3 * 4 + i % 3];
  return result;
}

bool begins_webp(std::string_view bytes) { return bytes.starts_with("RIFF") && bytes.substr(0, 12).ends_with("WEBP"); }

}  // namespace

image_format webp_format() { return {begins_webp, webp_header, decode_webp}; }

}  // namespace hydra
