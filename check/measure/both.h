// A program on Assay and on the backend that is measured.
#ifndef ASSAY_CHECK_MEASURE_BOTH_H_
#define ASSAY_CHECK_MEASURE_BOTH_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "check/backend.h"
#include "run/engine_list.h"
#include "run/executor.h"

namespace assay {

struct MeasureOptions {
  int64_t count = 100'000;  // arguments of all exponents, and as many near 1
  uint64_t seed = 1;
  RunOptions run;
  std::span<const Engine* const> engines = EnginesOf();
};

struct BothOutputs {
  std::vector<Literal> exact, actual;  // by output, in order
};

class Both {
 public:
  Both(Backend& backend, const MeasureOptions& options) : backend_(backend), options_(options) {}

  // `text` without its first line, HloModule. The root is an array or a tuple of arrays.
  absl::StatusOr<BothOutputs> Run(const std::string& text, const std::vector<Literal>& arguments);
  const MeasureOptions& options() const { return options_; }

 private:
  Backend& backend_;
  const MeasureOptions& options_;
};

// The backend's own trouble, not an end of the whole measurement.
bool IsRefusal(const absl::Status& status);

}  // namespace assay

#endif  // ASSAY_CHECK_MEASURE_BOTH_H_
