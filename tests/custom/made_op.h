// Interfaces for tests.
#ifndef ASSAY_TESTS_CUSTOM_MADE_OP_H_
#define ASSAY_TESTS_CUSTOM_MADE_OP_H_

#include <catch2/catch.hpp>
#include <utility>

#include "custom/op_interface.h"

namespace assay::custom {

// The registration is good.
inline OpInterface Made(const OpRegistration& registration) {
  absl::StatusOr<OpInterface> op = MakeInterface(registration);
  INFO(op.status().ToString());
  REQUIRE(op.ok());
  return *std::move(op);
}

// The running example of docs/spec/custom-ops.md, section 1.
inline OpRegistration ZeroOutRegistration() {
  return {.name = "Acme.ZeroOut",
          .attrs = {"preserve_index: int >= 0 = 0", "T: {f32, s32}"},
          .inputs = {"to_zero: T"},
          .outputs = {"zeroed: T"},
          .doc = "\nCopies the input, sets all but one element to zero.\n"};
}

}  // namespace assay::custom

#endif  // ASSAY_TESTS_CUSTOM_MADE_OP_H_
