// What the derivation of one module's computations shares.
#ifndef ASSAY_CHECK_MODULE_DERIVER_H_
#define ASSAY_CHECK_MODULE_DERIVER_H_

#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "check/computation_writer.h"
#include "check/derive_bounds.h"

namespace assay {

// A computation of the derived program. It takes a tuple of the arrays of its parameters and then the radii
// of some, and gives a tuple of the arrays of its root, then the radii of some, then the ends of some.
struct DerivedComputation {
  ComputationId id;
  std::vector<bool> radii;             // by leaf of the root: it has one
  std::vector<bool> ends;              // it has these, two elements a leaf
  std::vector<bool> takes_loop_forms;  // by leaf of the parameters; empty: none
  std::vector<bool> loop_forms;        // it has these, three elements a leaf
};

// The first-order forms (evaluator/bound.h) that a computation takes behind the ends of its parameters, of
// these leaves, and gives behind those of its result. The body of a loop takes and gives a matrix and two
// vectors instead, of all elements of these leaves together (evaluator/bounds/loop_state.h).
struct LoopForms {
  std::vector<bool> leaves;
  int64_t symbols = 0;  // of a form; 0: there are none
  int64_t rows = 0;     // of that matrix; 0: it is not the body of a loop
  auto operator<=>(const LoopForms&) const = default;
};

// A computation of the derived program that shows where something is undecided: it takes what a
// DerivedComputation takes, and gives a tuple of what the elements below are in.
struct ProbedComputation {
  struct Shown {
    int64_t value = -1, radius = -1;  // -1: it has no radius
  };
  ComputationId id;
  std::vector<std::vector<int64_t>>
      flags;  // by instruction and leaf: not 0 where an element is undecided; -1: none is
  std::map<int32_t, std::vector<std::vector<Shown>>>
      shown;                // of calls, branches and loops the leaves of each operand
  std::vector<Shown> root;  // by leaf
};

class ModuleDeriver {
 public:
  // Of these loops forms are derived.
  ModuleDeriver(const Module& from, const Profile& profile, LoopSet with_forms = {});

  bool HasLoopForms(const Instruction& loop) const { return with_forms_.contains(&loop); }
  void NoteLoopForms(const Instruction& loop);
  const Module& from() const { return from_; }
  const Profile& profile() const { return profile_; }
  Module& module() { return result_.module; }
  int64_t& instructions_left() { return instructions_left_; }

  // The computation for parameters of which these leaves have radii. The leaves of the result that are wanted
  // have one in any case, of zeros if need be. `ends`: of these leaves of the parameters the ends are given
  // behind the radii, and the result has those that say more than its radii, of the leaves that are read
  // (empty: all).
  absl::StatusOr<DerivedComputation> Derive(ComputationId id, const std::vector<bool>& radii,
                                            const std::vector<bool>& wanted,
                                            const std::optional<std::vector<bool>>& ends = std::nullopt,
                                            const LoopForms& forms = {}, const std::vector<bool>& read = {});
  absl::StatusOr<ProbedComputation> DeriveProbed(ComputationId id, const std::vector<bool>& radii);
  absl::Status DeriveEntry(const std::vector<bool>& subnormal_arguments);
  // The computation as it is.
  ComputationId Copied(ComputationId id);
  ComputationId Widened(ComputationId id, std::span<const ElementType> types);
  ComputationId Reducer(Opcode op, ElementType type);
  ComputationId Replacer(ElementType type);
  bool IsExact(ComputationId id);
  // Keeps the instruction's name if one of the computations holds collectives, or transfers between devices.
  void NoteUndecided(const Instruction& instruction, std::initializer_list<ComputationId> computations);
  void Note(const Computation& computation, const Instruction& instruction, std::string_view why);

  DerivedBounds TakeResult() && { return std::move(result_); }

 private:
  using Key = std::tuple<int32_t, std::vector<bool>, std::vector<bool>, std::optional<std::vector<bool>>,
                         LoopForms, std::vector<bool>>;

  const Module& from_;
  const Profile& profile_;
  const LoopSet with_forms_;
  DerivedBounds result_;
  int64_t instructions_left_;
  bool MeetsDevices(ComputationId id) const;

  int quiet_ = 0;  // what is tried only: no notes
  std::map<Key, DerivedComputation> derived_;
  std::map<int32_t, ComputationId> copied_;
  std::map<std::pair<int, ElementType>, ComputationId> reducers_;
  std::map<int32_t, bool> exact_;
  std::set<std::string> noted_;
};

}  // namespace assay

#endif  // ASSAY_CHECK_MODULE_DERIVER_H_
