// The tables of stack frames in the header of a module.
#include <catch2/catch.hpp>
#include <cstdint>

#include "fmt/format.h"
#include "hlo/text/parser.h"

namespace assay {
namespace {

TEST_CASE("parser: numbers of frame tables have 32 bits", "[parser]") {
  const std::string text = R"(HloModule m

FileNames
1 "a.py"

FunctionNames
1 "f"

FileLocations
1 {file_name_id=1 function_name_id=1 line=1 end_line=1 column=1 end_column=1}

StackFrames
1 {file_location_id=1 parent_frame_id=1}

ENTRY e {
  ROOT c = f32[] constant(1)
}
)";
  for (const std::string field : {"file_name_id", "function_name_id", "line", "end_line", "column",
                                  "end_column", "file_location_id", "parent_frame_id"}) {
    const size_t at = text.find(" " + field + "=") == std::string::npos ? text.find("{" + field + "=") + 1
                                                                        : text.find(" " + field + "=") + 1;
    const auto with = [&](int64_t value) {
      std::string changed = text;
      changed.replace(at + field.size() + 1, 1, std::to_string(value));
      return ParseHloText(changed);
    };
    INFO(field);
    for (const int64_t fits : {int64_t{INT32_MAX}, int64_t{INT32_MIN}, int64_t{0}}) CHECK(with(fits).ok());
    for (const int64_t beyond : {int64_t{INT32_MAX} + 1, int64_t{INT32_MIN} - 1, INT64_MAX, INT64_MIN}) {
      const absl::Status status = with(beyond).status();
      CHECK(ExitCodeOf(status) == 3);
      CHECK(status.message() ==
            fmt::format("frame table: {} is {}, want a number of 32 bits", field, beyond));
    }
  }
}

}  // namespace
}  // namespace assay
