// What was found of each instruction so far, over all runs of it.
#ifndef ASSAY_CHECK_ISOLATE_RECORDS_H_
#define ASSAY_CHECK_ISOLATE_RECORDS_H_

#include <map>
#include <string>
#include <vector>

#include "check/isolate/isolation.h"
#include "check/isolate/sites.h"

namespace assay {

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

}  // namespace assay

#endif  // ASSAY_CHECK_ISOLATE_RECORDS_H_
