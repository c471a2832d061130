#pragma once
// Pages of the host mapped into a range of addresses: like a GPU's driver does with its memory, by mmap.

#include "runtime/device/streams/page_source.hpp"

#include <memory>

namespace hydra::test {

/// `page`: a multiple of 4096. Reading or writing a place without a page ends the program.
std::unique_ptr<page_source> make_host_pages(byte_count page, std::size_t pages, std::size_t spread = 8);

}  // namespace hydra::test
