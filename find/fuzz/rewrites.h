// Programs that mean the same: each rewrite replaces one instruction by another way to compute the same bits,
// NaN payloads excepted. The reference must give equal outputs before and after, and a backend has to stay
// within the bounds of both.
#ifndef ASSAY_FIND_FUZZ_REWRITES_H_
#define ASSAY_FIND_FUZZ_REWRITES_H_

#include <span>
#include <string_view>
#include <vector>

#include "find/fuzz/generator.h"
#include "find/reduce/edit.h"
#include "hlo/module.h"

namespace assay::fuzz {

// What a rewrite works on.
struct RewriteSite {
  Choices& choices;
  ComputationEdit& edit;
  int32_t instruction;                   // of edit.before(): what is replaced
  std::vector<ComputationId> callees{};  // those that EqualRewrite::callees made

  const Instruction& before() const { return edit.before(instruction); }
  const Shape& shape() const { return *before().shape; }
};

struct EqualRewrite {
  std::string_view name;
  // Whether the rewrite may replace the instruction of the entry computation: the side condition under which
  // it keeps every bit.
  bool (*applies)(const Module& module, const Instruction& instruction);
  // Computations that the new instructions call; null: none.
  std::vector<Computation> (*callees)(Choices& choices, const Module& module, const Instruction& instruction);
  // Writes instructions, and gives the one that has the value.
  int32_t (*write)(RewriteSite& site);
};

// The table.
std::span<const EqualRewrite> EqualRewrites();

// Applies the rewrite to an instruction of the entry computation, which is the last computation. Every
// instruction has a shape. Error: InvalidProgram where an op's shape rule refuses what was written.
absl::Status ApplyRewrite(const EqualRewrite& rewrite, int32_t instruction, Choices& choices, Module& module);

// Applies up to `count` rewrites at random places; gives their names, in order.
std::vector<std::string_view> RewriteEqually(Choices& choices, int count, Module& module);

}  // namespace assay::fuzz

#endif  // ASSAY_FIND_FUZZ_REWRITES_H_
