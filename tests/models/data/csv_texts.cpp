#include "models/data/csv_texts.hpp"

#include "runtime/base/fault.hpp"
#include "tests/support/temporary_folder.hpp"

#include <catch2/catch.hpp>

using namespace hydra;
using namespace hydra::test;
using Catch::Matchers::Contains;

TEST_CASE("a column of texts is read record by record, with its labels") {
  const temporary_folder folder;
  const csv_texts r{folder.write("f.csv", "mood,what\ngood,\"fine,\nreally\"\n\nbad,\"no \"\"way\"\"\"\n"), "what",
                    "mood", ','};
  REQUIRE(r.size() == 2);
  CHECK(r.record(1).text == "no \"way\"");
  CHECK(r.record(0).text == "fine,\nreally");
  CHECK(r.record(0).label == class_label{std::string{"good"}});
  CHECK(r.labels() == label_census{{"good", {r.file(), 2}}, {"bad", {r.file(), 5}}});
}

TEST_CASE("a column of texts may have no labels") {
  const temporary_folder folder;
  CHECK(csv_texts{folder.write("f.csv", "what\nx\n"), "what", "", ','}.labels().empty());
}

TEST_CASE("rows without a text or with other columns are left out with a note, if they may be") {
  const temporary_folder folder;
  const auto file = folder.write("f.csv", "mood,what,id,size\ngood,x,1,2\nbad,,1,2\nbad,y\nbad,z,1,2\n");
  const csv_texts r{file, "what", "mood", ',', bad_row_rule::leave_out};
  REQUIRE(r.size() == 2);
  CHECK(r.record(1).text == "z");
  CHECK(r.labels() == label_census{{std::string{"good"}, {file, 2}}, {std::string{"bad"}, {file, 5}}});
  CHECK(r.notes() ==
        std::vector<std::string>{file.string() + ": 2 of 4 records cannot be read and are left out: line 3: column "
                                                 "\"what\" is empty; line 4: 2 fields, but there are 4 columns",
                                 file.string() + ": columns that are not read: \"size\""});
}

TEST_CASE("an empty text is refused with its line") {
  const temporary_folder folder;
  const auto file = folder.write("f.csv", "mood,what\ngood,x\nbad,\n");
  CHECK_THROWS_WITH((csv_texts{file, "what", "mood", ','}), Contains("f.csv:3: column \"what\" is empty"));
}
