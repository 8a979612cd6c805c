// Terms of sums over nothing: none, at once, however large the other sizes are.
#include "run/element_terms.h"

#include <catch2/catch.hpp>
#include <vector>

#include "tests/run/program_testing.h"

namespace assay {
namespace {

Terms TermsOfRoot(const Program& program, const std::vector<int64_t>& positions) {
  const Computation& entry = program.module().entry_computation();
  return TermsOf(entry, entry.root_instruction(), positions);
}

TEST_CASE("terms of a dot and a convolution over 2^80 times nothing", "[terms]") {
  const Program dot = ProgramOf(R"(HloModule m
ENTRY e {
  x = f32[2,1099511627776,1099511627776,0] parameter(0)
  y = f32[1099511627776,1099511627776,0] parameter(1)
  ROOT r = f32[2] dot(x, y), lhs_contracting_dims={1,2,3}, rhs_contracting_dims={0,1,2}
})");
  const Program convolution = ProgramOf(R"(HloModule m
ENTRY e {
  x = f32[1,0,1099511627776,1099511627776] parameter(0)
  k = f32[2,0,1099511627776,1099511627776] parameter(1)
  ROOT r = f32[1,2,1,1] convolution(x, k), window={size=1099511627776x1099511627776}, dim_labels=bf01_oi01->bf01
})");
  for (const Program* program : {&dot, &convolution}) {
    const Terms terms = TermsOfRoot(*program, {1, 0});
    CHECK(terms.counts == std::vector<int64_t>{0, 0});
    CHECK(terms.operands[0].empty());
    CHECK(terms.operands[1].empty());
  }
}

}  // namespace
}  // namespace assay
