// What a program has, or did when it ran: operations on types, one operation on another's result, the kernels
// of its plan, how near results came to their bounds, errors. Programs that have something new lead to
// others.
#ifndef ASSAY_FIND_FUZZ_FEATURES_H_
#define ASSAY_FIND_FUZZ_FEATURES_H_

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "hlo/module.h"
#include "plan/plan.h"

namespace assay::fuzz {

// Such as "dot(bf16,bf16)->f32", "dot of transpose", "kernel native tiles".
std::set<std::string> FeaturesOf(const Module& module, const Plan& plan);

// Such as "share 2^-3 of tanh(f32)->f32": what gives an output, and the power of two below the share of the
// bound that its elements came to; those of shares below 1/16 are left out. `shares` by leaf of the root.
std::set<std::string> FeaturesOfShares(const Module& module,
                                       std::span<const std::pair<int64_t, double>> shares);

// "dot(bf16,bf16)->f32"
std::string SignatureOf(const Computation& computation, const Instruction& instruction);

// What a program that was made smaller consists of: its operations' signatures in order, parameters,
// constants and tuples left out. Findings with equal causes are one.
std::string CauseOf(const Module& module);

// Whether the program has operations of the opcodes that the cause names, those in called computations there.
bool HasOperationsOf(const Module& module, std::string_view cause);

// A message without what differs from program to program: numbers and quoted names.
std::string Skeleton(std::string_view message);

}  // namespace assay::fuzz

#endif  // ASSAY_FIND_FUZZ_FEATURES_H_
