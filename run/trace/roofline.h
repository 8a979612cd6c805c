// How fast this machine can be, measured in the process: what a step's time is compared with.
#ifndef ASSAY_RUN_TRACE_ROOFLINE_H_
#define ASSAY_RUN_TRACE_ROOFLINE_H_

#include <optional>

#include "base/parallel.h"
#include "jit/isa.h"
#include "plan/costs.h"

namespace assay {

// What all threads of a Parallel reach together.
struct Peaks {
  double copy = 0;    // bytes read and written a second, from memory to memory, past the caches
  double cached = 0;  // the same of 128 KiB a thread
  double f32 = 0;     // operations a second, a fused multiply-add being two
  double f64 = 0;
};

// The best of a few rounds, of about a tenth of a second in all, with vectors of the instruction set.
// Needs 128 MiB.
Peaks MeasurePeaks(Parallel& parallel, Isa isa);

// What a run of a step has of the roofline: the time that its bytes or its operations take at least,
// whichever is longer, over `seconds`. Up to 256 KiB lie in a cache. Operations count as f64 where the step
// reads or writes f64 or c128, else as f32. Functions count nothing. More than 1 where larger operands lie in
// a cache, where a kernel computes with instructions that do more than f32's (AMX, VNNI) or needs fewer
// operations than costs.h says (sliding windows). Nothing where the step neither moves nor computes,
// or its cost is not known.
std::optional<double> ShareOfRoofline(const Peaks& peaks, const Computation& computation, const Step& step,
                                      const Cost& cost, double seconds);

}  // namespace assay

#endif  // ASSAY_RUN_TRACE_ROOFLINE_H_
