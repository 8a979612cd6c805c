// What a proof says: how many inputs were tried, how many answers were wrong and the first of them, and the
// table in docs/data/proofs.md.
#ifndef ASSAY_PROVE_REPORT_H_
#define ASSAY_PROVE_REPORT_H_

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace assay::prove {

struct Proof {
  std::string function;  // "exp"
  std::string type;      // "f32"
  std::string inputs;    // "all", "random"
  int64_t tried = 0;
  int64_t wrong = 0;
  double seconds = 0;
  std::vector<std::string> examples;  // at most kExamples, each one line

  static constexpr size_t kExamples = 10;
  void AddWrong(std::string example);
  void Merge(const Proof& part);  // counts and examples
};

// "x = 0x3f800000, y = …: got 0x…, wanted 0x…", hex digits as many as the type has.
std::string WrongLine(const std::string& operands, uint64_t got, uint64_t wanted, int bits);
std::string Hex(uint64_t pattern, int bits);

// Collects the proofs of a run.
class Ledger {
 public:
  explicit Ledger(std::string engine) : engine_(std::move(engine)) {}
  void Add(const Proof& proof);  // prints it; threads may share a ledger
  bool AllRight() const { return wrong_ == 0; }
  // Writes the rows into the table between the marker lines of the file: a row for the same function, type
  // and engine is replaced.
  absl::Status Record(const std::string& path, const std::string& date) const;

 private:
  const std::string engine_;
  std::mutex mutex_;
  std::vector<Proof> proofs_;
  int64_t wrong_ = 0;
};

// The text of docs/data/proofs.md with the rows of `proofs` put in; an error where the marker lines are
// missing.
absl::StatusOr<std::string> WithRows(const std::string& text, const std::vector<Proof>& proofs,
                                     const std::string& engine, const std::string& date);

}  // namespace assay::prove

#endif  // ASSAY_PROVE_REPORT_H_
