#include "runtime/storage/durable_folder.hpp"

#include "runtime/storage/leftovers.hpp"
#include "runtime/storage/verify_folder.hpp"
#include "tests/support/faulty_file_system.hpp"
#include "tests/support/stored_folder.hpp"
#include "tests/support/temporary_folder.hpp"

#include <unistd.h>

#include <catch2/catch.hpp>

#include <cerrno>
#include <cstring>
#include <stdexcept>

using namespace hydra;
using namespace hydra::test;
using Catch::Matchers::Contains;

namespace {

file_system& files = posix_file_system();

/// A folder that was stored before, "older", and the place of the next one, "newer".
struct checkpoints {
  temporary_folder parent;
  std::filesystem::path older = parent.path() / "older", newer = parent.path() / "newer";

  checkpoints() { store_folder(files, older); }
  /// The text of the fault of storing the newer folder; empty if it is stored.
  std::string store_newer(file_system& on) const {
    return refusal_of([&] { store_folder(on, newer); });
  }
  bool only_the_older_is_there() const {
    verify_folder(older);
    return parent.files() == 1;
  }
};

void nothing(byte_sink&) {}

}  // namespace

TEST_CASE("a folder has its name only after commit, and then all its files") {
  const checkpoints c;
  durable_folder folder{files, c.newer};
  folder.write("file", nothing);
  CHECK_FALSE(std::filesystem::exists(c.newer));
  folder.commit();
  verify_folder(c.newer);
  CHECK(std::filesystem::exists(c.newer / "file"));
  CHECK(c.parent.files() == 2);
}

TEST_CASE("a folder that is not committed leaves nothing") {
  const checkpoints c;
  {
    durable_folder folder{files, c.newer};
    folder.write("file", nothing);
    CHECK(c.parent.files() == 2);
  }
  CHECK(c.only_the_older_is_there());
}

TEST_CASE("files are on the disk before the folder gets its name, the name before commit returns") {
  const temporary_folder parent;
  faulty_file_system noted;
  durable_folder folder{noted, parent.path() / "step"};
  folder.write("empty", nothing);
  folder.commit();
  const auto temporary = temporary_path("step", getpid()).string();
  CHECK(noted.transcript() == std::vector<std::string>{"make folder " + temporary, "create empty", "flush empty",
                                                       "create SHA256SUMS", "write SHA256SUMS", "flush SHA256SUMS",
                                                       "sync empty", "close empty", "sync SHA256SUMS",
                                                       "close SHA256SUMS", "sync folder " + temporary, "rename to step",
                                                       "sync folder " + parent.path().filename().string()});
}

TEST_CASE("if any operation fails, the older folder stays, nothing else is left, and the text says where and why") {
  const int error = GENERATE(ENOSPC, EIO);
  int operation = 0;
  for (bool hit = true; hit; ++operation) {
    const checkpoints c;
    faulty_file_system faulty{{.first = operation, .last = operation, .error = error}};
    const std::string text = c.store_newer(faulty);
    hit = faulty.hit();
    if (!hit) break;
    CAPTURE(operation, text, faulty.transcript());
    CHECK_THAT(text, Contains("cannot write " + c.newer.string()) && Contains(std::strerror(error)));
    CHECK(c.only_the_older_is_there());
  }
  CHECK(operation == 23);  // the number of operations in the transcript of a write of four files
}

TEST_CASE("the operation that failed is in the text") {
  const checkpoints c;
  const auto text_of_failed = [&](file_operation kind) {
    faulty_file_system faulty{{.kind = kind, .error = EIO}};
    return c.store_newer(faulty);
  };
  CHECK_THAT(text_of_failed(file_operation::make_folder), Contains(": make folder "));
  CHECK_THAT(text_of_failed(file_operation::create), Contains(": create ") && Contains("parameters: "));
  CHECK_THAT(text_of_failed(file_operation::write), Contains(": write ") && Contains("parameters: "));
  CHECK_THAT(text_of_failed(file_operation::sync), Contains(": sync ") && Contains("parameters: "));
  CHECK_THAT(text_of_failed(file_operation::close), Contains(": close ") && Contains("parameters: "));
  CHECK_THAT(text_of_failed(file_operation::rename), Contains(": rename to ") && Contains("newer: "));
  CHECK_THAT(text_of_failed(file_operation::sync_folder), Contains(": sync folder "));
}

TEST_CASE("a disk that fails for good harms no older folder, and what remains on it is a leftover") {
  for (int operation = 0; operation < 23; ++operation) {
    const checkpoints c;
    faulty_file_system dead{{.first = operation, .last = file_faults::for_ever, .error = EIO}};
    CAPTURE(operation);
    CHECK_THAT(c.store_newer(dead), Contains(c.newer.string()) && Contains(std::strerror(EIO)));
    verify_folder(c.older);
    if (std::filesystem::exists(c.newer)) verify_folder(c.newer);  // the renaming could not be undone
    remove_leftovers(files, c.parent.path());
    CHECK(c.parent.files() == (std::filesystem::exists(c.newer) ? 2 : 1));
  }
}

TEST_CASE("short writes are continued") {
  const checkpoints c;
  faulty_file_system halves{{.first = -1, .last = -1}, true};
  CHECK(c.store_newer(halves).empty());
  verify_folder(c.newer);
  for (const char* file : {"parameters", "state", "notes", "SHA256SUMS"})
    CHECK(text_of(c.newer / file) == text_of(c.older / file));
}

TEST_CASE("memory that was written may change before commit") {
  const checkpoints c;
  std::vector<std::byte> bytes(3 << 20, std::byte{7});
  durable_folder folder{files, c.newer};
  folder.write("bytes", [&](byte_sink& out) { out.add(bytes); });
  bytes.assign(bytes.size(), std::byte{8});
  folder.commit();
  verify_folder(c.newer);
  CHECK(text_of(c.newer / "bytes") == std::string(bytes.size(), 7));
}

TEST_CASE("an exception of the content is passed on unchanged and leaves nothing") {
  const checkpoints c;
  durable_folder folder{files, c.newer};
  CHECK_THROWS_AS(folder.write("file", [](byte_sink&) { throw std::logic_error{"half-way"}; }), std::logic_error);
  CHECK(c.only_the_older_is_there());
  CHECK_THROWS_WITH(folder.commit(), Contains("after its end"));
  CHECK_THROWS_WITH(folder.write("file", nothing), Contains("after its end"));
}

TEST_CASE("a committed folder cannot be written to") {
  const checkpoints c;
  durable_folder folder{files, c.newer};
  folder.commit();
  CHECK_THROWS_WITH(folder.write("file", nothing), Contains("after its end"));
  verify_folder(c.newer);
}

TEST_CASE("an existing place is refused and stays as it is") {
  const checkpoints c;
  CHECK_THAT(refusal_of([&] { store_folder(files, c.older); }), Contains(c.older.string() + ": it exists"));
  CHECK(c.only_the_older_is_there());
}

TEST_CASE("a place that is created by others before commit stays as it is") {
  const checkpoints c;
  durable_folder folder{files, c.newer};
  store_folder(files, c.parent.path() / "rival");
  files.rename(c.parent.path() / "rival", c.newer);
  CHECK_THAT(refusal_of([&] { folder.commit(); }), Contains("rename to " + c.newer.string()));
  verify_folder(c.newer);
  CHECK(c.parent.files() == 2);
}

TEST_CASE("a second writer to the same place is refused and does not harm the first") {
  const checkpoints c;
  durable_folder first{files, c.newer};
  first.write("file", nothing);
  CHECK_THAT(c.store_newer(files), Contains("make folder") && Contains("File exists"));
  first.commit();
  verify_folder(c.newer);
}

TEST_CASE("a folder in a folder that does not exist is refused") {
  CHECK_THAT(refusal_of([] {
               durable_folder{files, "no/such/folder"};
             }),
             Contains("no/such/folder: make folder") && Contains("No such file"));
}

TEST_CASE("a name that is not a plain file name, or exists, is refused") {
  const checkpoints c;
  durable_folder folder{files, c.newer};
  for (const char* name : {"", "..", "a/b", "SHA256SUMS", "a\nb"})
    CHECK_THROWS_WITH(folder.write(name, nothing), Contains("cannot be a file of " + c.newer.string()));
  folder.write("file", nothing);
  CHECK_THAT(refusal_of([&] { folder.write("file", nothing); }), Contains("File exists"));
  CHECK(c.only_the_older_is_there());
}

TEST_CASE("a slash at the end of the place does not matter") {
  const checkpoints c;
  store_folder(files, c.newer / "");
  verify_folder(c.newer);
}

TEST_CASE("a folder of more files than a process may have open can be written") {
  const temporary_folder parent;
  const auto place = parent.path() / "step";
  const auto open_files = [] {
    return std::distance(std::filesystem::directory_iterator{"/proc/self/fd"}, std::filesystem::directory_iterator{});
  };
  const auto before = open_files();
  durable_folder folder{posix_file_system(), place};
  for (int i = 0; i < 200; ++i) {
    folder.write(std::to_string(i), [](byte_sink&) {});
    REQUIRE(open_files() - before <= 64);
  }
  folder.commit();
  verify_folder(place);
}
