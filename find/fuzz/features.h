// What a program has that can be seen without running it elsewhere: operations on types, one operation on
// another's result, the kernels of its plan. Programs that have something new lead to others.
#ifndef ASSAY_FIND_FUZZ_FEATURES_H_
#define ASSAY_FIND_FUZZ_FEATURES_H_

#include <set>
#include <string>

#include "hlo/module.h"
#include "plan/plan.h"

namespace assay::fuzz {

// Such as "dot(bf16,bf16)->f32", "dot of transpose", "kernel native tiles".
std::set<std::string> FeaturesOf(const Module& module, const Plan& plan);

// "dot(bf16,bf16)->f32"
std::string SignatureOf(const Computation& computation, const Instruction& instruction);

// What a program that was made smaller consists of: its operations' signatures in order, parameters,
// constants and tuples left out. Findings with equal causes are one.
std::string CauseOf(const Module& module);

// A message without what differs from program to program: numbers and quoted names.
std::string Skeleton(std::string_view message);

}  // namespace assay::fuzz

#endif  // ASSAY_FIND_FUZZ_FEATURES_H_
