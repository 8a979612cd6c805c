// Programs whose root runs by generated code wherever there is any, against the reference engine.
#ifndef ASSAY_TESTS_ENGINES_NATIVE_CODE_TESTING_H_
#define ASSAY_TESTS_ENGINES_NATIVE_CODE_TESTING_H_

#include <catch2/catch.hpp>
#include <string>

#include "tests/engines/native/native_testing.h"

namespace assay::testing {

inline bool HasCode() { return MachineIsa() != Isa::kBaseline; }

inline bool RootRunsByKernel(const std::string& body) {
  int kernels = 0;
  return RootHasKernel(NativePlan(ReferencePlan(body), MachineIsa(), &kernels));
}

inline void CheckByCode(const std::string& body, std::initializer_list<Draw> draws) {
  INFO(body);
  CHECK(RootRunsByKernel(body) == HasCode());
  CheckAgainstReference(body, draws);
}

// What generated code reads and writes.
inline constexpr const char* kCodeTypes[] = {"pred", "s8",  "u8",  "s16",  "u16", "s32", "u32",
                                             "s64",  "u64", "f16", "bf16", "f32", "f64"};

}  // namespace assay::testing

#endif  // ASSAY_TESTS_ENGINES_NATIVE_CODE_TESTING_H_
