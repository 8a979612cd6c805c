// Programs that mean the same: each rewrite replaces one instruction by another way to compute the same, by
// its bits, NaN payloads excepted, or but for rounding. The reference must give equal outputs before and
// after, or ones within the bounds of both; a backend has to stay within the bounds of either program.
#ifndef ASSAY_FIND_FUZZ_REWRITES_H_
#define ASSAY_FIND_FUZZ_REWRITES_H_

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "find/fuzz/generator.h"
#include "find/reduce/edit.h"
#include "hlo/module.h"

namespace assay::fuzz {

// What a rewrite works on.
struct RewriteSite {
  const Module& module;  // as it was
  Choices& choices;
  ComputationEdit& edit;
  int32_t instruction;                   // of edit.before(): what is replaced
  std::vector<ComputationId> callees{};  // those that EqualRewrite::callees made
  int64_t devices = 1;                   // partitions of the program, from now on

  const Instruction& before() const { return edit.before(instruction); }
  const Shape& shape() const { return *before().shape; }
};

// What of the outputs a rewrite keeps.
enum class Keeps : uint8_t {
  kBits,
  // What the operation means, but not where it is rounded, as long as no number overflows on either way: both
  // values lie within their bounds of the value that is not rounded anywhere.
  kMeaning,
};

struct EqualRewrite {
  std::string_view name;
  // Whether the rewrite may replace the instruction of the entry computation: the side condition under which
  // it keeps that.
  bool (*applies)(const Module& module, const Instruction& instruction);
  // Computations that the new instructions call; null: none.
  std::vector<Computation> (*callees)(Choices& choices, const Module& module, const Instruction& instruction);
  // Writes instructions, and gives the one that has the value.
  int32_t (*write)(RewriteSite& site);
  Keeps keeps = Keeps::kBits;
  // The new program is for several devices, which have the same arguments, and give the same result each.
  bool is_of_devices = false;
};

// The table.
std::span<const EqualRewrite> EqualRewrites();

// Applies the rewrite to an instruction of the entry computation, which is the last computation. Every
// instruction has a shape. Error: InvalidProgram where an op's shape rule refuses what was written.
absl::Status ApplyRewrite(const EqualRewrite& rewrite, int32_t instruction, Choices& choices, Module& module);

// Applies up to `count` of the rewrites that are wanted, at random places; gives their names, in order.
std::vector<std::string_view> RewriteEqually(Choices& choices, int count,
                                             absl::FunctionRef<bool(const EqualRewrite&)> is_wanted,
                                             Module& module);
// Those that keep every bit on one device.
inline bool KeepsBits(const EqualRewrite& rewrite) {
  return rewrite.keeps == Keeps::kBits && !rewrite.is_of_devices;
}

}  // namespace assay::fuzz

#endif  // ASSAY_FIND_FUZZ_REWRITES_H_
