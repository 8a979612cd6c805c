// Tests of programs run HLO text on literals with it and compare, with an answer that a person can read.
//
//   #include <assay/testing.h>
//   using assay::testing::EvaluatesTo;
//   TEST_CASE("twice") {
//     CHECK(EvaluatesTo("ENTRY e { p = f32[2] parameter(0)  ROOT r = f32[2] add(p, p) }",
//                       {"f32[2] {1, 2.5}"}, "f32[2] {2, 5}"));
//   }
//
// It knows no test framework: an Outcome is true or false, and prints itself. Values are written as a shape
// and a literal; floats may be C99 hex; a tuple is "(f32[2], s32[]) ({1, 2}, 3)".
#ifndef ASSAY_BUILDER_TESTING_H_
#define ASSAY_BUILDER_TESTING_H_

#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "builder/xla_builder.h"
#include "evaluator/eval_context.h"
#include "literal/compare.h"
#include "literal/literal.h"

namespace assay::testing {

class [[nodiscard]] Outcome {
 public:
  Outcome() = default;  // passed
  explicit Outcome(std::string failure) : passed_(false), message_(std::move(failure)) {}
  explicit operator bool() const { return passed_; }
  const std::string& message() const { return message_; }  // why not
  friend std::ostream& operator<<(std::ostream& out, const Outcome& outcome) {
    return out << (outcome.passed_ ? "as expected" : outcome.message_);
  }

 private:
  bool passed_ = true;
  std::string message_;
};

// Bit for bit; a NaN equals only the same NaN.
inline constexpr Tolerance kExact{.bitwise = true};

// "f32[2,2] {{1, 2}, {3, 0x1p-3}}".
absl::StatusOr<Literal> ParseValue(std::string_view text);

// The result of the program. Arguments: as ParseValue reads them, one a parameter.
absl::StatusOr<Literal> Run(std::string_view hlo, const std::vector<std::string>& arguments,
                            const RunOptions& options = {});
absl::StatusOr<Literal> Run(const builder::XlaComputation& computation,
                            const std::vector<std::string>& arguments, const RunOptions& options = {});

Outcome Equals(const Literal& actual, std::string_view expected, const Tolerance& tolerance = kExact);
Outcome EvaluatesTo(std::string_view hlo, const std::vector<std::string>& arguments,
                    std::string_view expected, const Tolerance& tolerance = kExact,
                    const RunOptions& options = {});
Outcome EvaluatesTo(const builder::XlaComputation& computation, const std::vector<std::string>& arguments,
                    std::string_view expected, const Tolerance& tolerance = kExact,
                    const RunOptions& options = {});
// The program is refused, or its evaluation fails, with a message that contains the text.
Outcome FailsWith(std::string_view hlo, const std::vector<std::string>& arguments, std::string_view message,
                  const RunOptions& options = {});

}  // namespace assay::testing

#endif  // ASSAY_BUILDER_TESTING_H_
