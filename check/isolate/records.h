// What was found of each instruction so far, over all runs of it.
#ifndef ASSAY_CHECK_ISOLATE_RECORDS_H_
#define ASSAY_CHECK_ISOLATE_RECORDS_H_

#include <map>
#include <string>
#include <vector>

#include "check/isolate/isolate.h"
#include "check/isolate/value_sources.h"

namespace assay {

// A place in the run of a program: indices of instructions and, of those in a computation that another one calls, iterations of
// loops, from the outside in. What is called stands before its caller.
using Place = std::vector<int64_t>;

// A body of a call, branch or loop of the program, on arrays that the backend had.
struct Site {
  ComputationId computation;          // of a loop, its body
  const Instruction* loop = nullptr;  // null: it runs once
  std::vector<Literal> arguments;     // the leaves of its parameters
  Place place;  // of the instruction that calls it, in this run; empty: the entry computation
  std::vector<int64_t> callers;  // the same without iterations
  std::string inside;            // the same in words
  int64_t iteration = -1;        // of the innermost loop around it
};

class Records {
 public:
  explicit Records(const Module& module) : module_(module) {}

  IsolatedInstruction& Of(const Site& site, int32_t instruction);
  void LeaveOut(const Site& site, int32_t instruction, std::string_view why);
  // A result of a run in the program; of iteration `iteration` where the site is a loop.
  void Add(const Site& site, int32_t instruction, const Conformance& found);
  // The verdict on one that was outside in the program: when run alone it is inside, or outside.
  void Confirm(const Site& site, int32_t instruction, int64_t iteration, const Conformance& in_program,
               const Conformance* alone);
  // How often it was confirmed already.
  int64_t Confirmed(const Site& site, int32_t instruction) { return EntryOf(site, instruction).confirmed; }
  void Finish(Isolation& result) &&;

 private:
  struct Entry {
    IsolatedInstruction instruction;
    Place first;  // where it was found wrong first
    int64_t confirmed = 0;
  };
  Entry& EntryOf(const Site& site, int32_t instruction);

  const Module& module_;
  std::map<std::vector<int64_t>, Entry> entries_;  // by callers and itself
};

// Elements, and the largest share and radius; what is shown of them is the caller's to choose.
void AddCounts(Conformance& total, const Conformance& one);

// Whether the instruction calls what is looked into.
bool IsLookedInto(const Instruction& instruction);

}  // namespace assay

#endif  // ASSAY_CHECK_ISOLATE_RECORDS_H_
