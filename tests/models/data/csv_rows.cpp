#include "models/data/csv_rows.hpp"

#include "runtime/base/fault.hpp"
#include "tests/conformance/data.hpp"
#include "tests/models/data/read_sample.hpp"
#include "tests/support/temporary_folder.hpp"

#include <catch2/catch.hpp>

#include <cmath>

using namespace hydra;
using namespace hydra::test;
using Catch::Matchers::Contains;

namespace {

/// Files of rows that are removed with this object.
struct row_files {
  temporary_folder folder;

  csv_files options(std::string_view train, csv_files o = {.target = "kind"}) const {
    o.train = folder.write("train.csv", train);
    return o;
  }
  csv_files with_validation(std::string_view train, std::string_view validation) const {
    csv_files o = options(train);
    o.validation = folder.write("valid.csv", validation);
    return o;
  }
};

const std::string_view flowers = "kind,length,width\nrose,1,10\ntulip,2,20\nrose,3,30\n";

std::string refusal(const csv_files& o) {
  try {
    csv_rows{o};
    return "";
  } catch (const fault_error& e) {
    return e.what_happened().text;
  }
}

}  // namespace

TEST_CASE("rows are all columns but the target, and classes its labels, sorted") {
  const row_files files;
  csv_files o = files.options(flowers);
  o.standardise = false;
  const csv_rows data{o};
  conforms(data);
  CHECK(data.sample_input() == tensor_spec{{2}, element::f32});
  CHECK(data.classes() == 2);
  CHECK(data.samples(split::train) == 3);
  CHECK(data.samples(split::validation) == 0);
  const auto s = read_sample<float>(data, 1);
  CHECK(s.input == std::vector<float>{2, 20});
  CHECK(s.target == std::vector<std::int64_t>{1});
  CHECK(s.counted == 1);
}

TEST_CASE("columns are standardised by mean and deviation of the training file, in both files") {
  const row_files files;
  const csv_rows data{files.with_validation(flowers, "width,kind,length\n40,tulip,2\n")};
  const auto deviation = static_cast<float>(std::sqrt(2.0 / 3));
  CHECK(read_sample<float>(data, 0).input[0] == Approx(-1 / deviation));
  CHECK(read_sample<float>(data, 2).input[1] == Approx(1 / deviation));
  const auto v = read_sample<float>(data, 0, split::validation);
  CHECK(v.input[0] == Approx(0));
  CHECK(v.input[1] == Approx(2 / deviation));  // columns are matched by name
  CHECK(v.target[0] == 1);
}

TEST_CASE("a column of one value becomes 0") {
  const row_files files;
  CHECK(read_sample<float>(csv_rows{files.options("kind,x\na,7\nb,7\n")}, 1).input == std::vector<float>{0});
}

TEST_CASE("chosen columns come in the order of the choice") {
  const row_files files;
  const csv_rows data{files.options(flowers, {.target = "kind", .columns = {"width"}, .standardise = false})};
  CHECK(read_sample<float>(data, 0).input == std::vector<float>{10});
}

TEST_CASE("a regression predicts the target's number") {
  const row_files files;
  const csv_rows data{files.options("x,y\n1,-0.5\n2,1e2\n", {.target = "y", .regression = true})};
  CHECK(data.sample_target() == tensor_spec{{1}, element::f32});
  CHECK(data.classes() == 1);
  CHECK(read_sample<float, float>(data, 1).target == std::vector<float>{100});
}

TEST_CASE("labels that are numbers are classes in numeric order, given ones in the given order") {
  const row_files files;
  const std::string_view text = "kind,x\n10,1\n9,2\n";
  CHECK(read_sample<float>(csv_rows{files.options(text)}, 0).target[0] == 1);
  const csv_files o{.target = "kind", .labels = {std::int64_t{10}, std::int64_t{9}}};
  CHECK(read_sample<float>(csv_rows{files.options(text, o)}, 0).target[0] == 0);
}

TEST_CASE("an empty cell is not a class, unless it is named as one") {
  const row_files files;
  const std::string_view text = "kind,x\na,1\n,2\nb,3\n";
  CHECK_THAT(refusal(files.options(text)), Contains("train.csv:3: the label is empty"));
  csv_files o{.target = "kind", .labels = {std::string{"a"}, std::string{"b"}}};
  CHECK_THAT(refusal(files.options(text, o)), Contains("train.csv:3: the label \"\" is not known"));
  o.labels.emplace_back(std::string{});
  CHECK(read_sample<float>(csv_rows{files.options(text, o)}, 1).target[0] == 2);
}

TEST_CASE("numbers too small for a float are 0") {
  const row_files files;
  const csv_rows data{files.options("kind,x\na,1e-50\nb,-0.1\n", {.target = "kind", .standardise = false})};
  CHECK(read_sample<float>(data, 0).input[0] == 0);
  CHECK(read_sample<float>(data, 1).input[0] == -0.1F);
}

TEST_CASE("the fingerprint distinguishes rows of other bytes or options") {
  const row_files files;
  const std::string first = csv_rows{files.options(flowers)}.fingerprint();
  CHECK(csv_rows{files.options(flowers)}.fingerprint() == first);
  CHECK(csv_rows{files.options(flowers, {.target = "kind", .standardise = false})}.fingerprint() != first);
  CHECK(csv_rows{files.with_validation(flowers, flowers)}.fingerprint() != first);
  CHECK(csv_rows{files.options("kind,length,width\nrose,1,10\ntulip,2,20\nrose,3,31\n")}.fingerprint() != first);
}

TEST_CASE("a column of texts or an empty cell is refused with what to do") {
  const row_files files;
  const std::string_view people = "kind,age,town,fare\na,30,Rome,7\nb,,Bonn,8\n";
  CHECK_THAT(refusal(files.options(people)),
             Contains("train.csv:2: \"Rome\" in column \"town\" is not a number; write one, or leave the column out: "
                      "columns = [\"age\", \"fare\"]"));
  CHECK_THAT(refusal(files.options(people, {.target = "kind", .columns = {"age", "fare"}})),
             Contains("train.csv:3: column \"age\" is empty; fill it in, leave the row out, or leave the column out: "
                      "columns = [\"fare\"]"));
  CHECK_THAT(refusal(files.options("kind,town\na,Rome\n")), Contains("naming those of numbers: columns = [...]"));
  CHECK_THAT(refusal(files.options("x,y\n1,low\n", {.target = "y", .regression = true})),
             Contains("\"low\" in column \"y\" is not a number; write one, or leave out regression = true"));
}

TEST_CASE("rows that cannot be read are counted, and left out if they may be") {
  const row_files files;
  const std::string_view text = "kind,x,y\na,1,2\nc,nan,2\nb,3,4\na,5\n";
  CHECK_THAT(refusal(files.options(text)),
             Contains("train.csv:3: \"nan\" in column \"x\"") &&
                 Contains("(2 of 4 records cannot be read: line 5: 2 fields, but there are 3 columns; "
                          "bad_rows = \"leave-out\""));
  const csv_rows data{
      files.options(text, {.target = "kind", .standardise = false, .bad_rows = bad_row_rule::leave_out})};
  REQUIRE(data.samples(split::train) == 2);
  CHECK(data.classes() == 2);
  CHECK(read_sample<float>(data, 1).input == std::vector<float>{3, 4});
  CHECK(read_sample<float>(data, 1).target[0] == 1);
  REQUIRE(data.notes().size() == 1);
  CHECK_THAT(data.notes()[0], Contains("2 of 4 records cannot be read and are left out"));
  CHECK_THAT(data.fingerprint(), Contains("2 left out"));
}

TEST_CASE("columns of the validation file that the training file lacks are named") {
  const row_files files;
  const auto notes = csv_rows{files.with_validation(flowers, "width,kind,length,colour\n1,rose,1,2\n")}.notes();
  REQUIRE(notes.size() == 1);
  CHECK_THAT(notes[0], Contains("valid.csv: columns that are not read: \"colour\""));
}

TEST_CASE("invalid rows are refused by file and line") {
  const row_files files;
  CHECK_THAT(refusal(files.options("kind,x\na,1\nb,two\n")),
             Contains("train.csv:3: \"two\" in column \"x\" is not a number"));
  CHECK_THAT(refusal(files.options("kind,x\na,1\nb,\n")), Contains("train.csv:3: column \"x\" is empty"));
  for (const char* number : {"nan", "inf", "1e99", "1x"})
    CHECK_THAT(refusal(files.options(std::string{"kind,x\na,"} + number + "\n")), Contains("train.csv:2: "));
  CHECK_THAT(refusal(files.options("kind,x\na,1,2\n")), Contains("train.csv:2: 3 fields, but there are 2 columns"));
  CHECK_THAT(refusal(files.options("kind,x,x\na,1,2\n")), Contains("train.csv:1: two columns are called \"x\""));
  CHECK_THAT(refusal(files.options("knd,x\na,1\n")),
             Contains("train.csv:1: there is no column \"kind\"; did you mean \"knd\"? (known: "));
  CHECK_THAT(refusal(files.options("kind\na\n")), Contains("no column besides the target"));
  CHECK_THAT(refusal(files.options("kind,x\n")), Contains("train.csv:1: there is no record"));
  CHECK_THAT(refusal(files.options("kind,x\na,1\n")), Contains("1 different labels"));
  CHECK_THAT(refusal(files.with_validation(flowers, "kind,length,width\nrose,1,1\nlily,1,1\n")),
             Contains("valid.csv:3: the label \"lily\" is not known; known are \"rose\", \"tulip\""));
  CHECK_THAT(refusal(files.options(flowers, {.target = "kind", .columns = {"kind"}})),
             Contains("\"kind\" is the target"));
}
