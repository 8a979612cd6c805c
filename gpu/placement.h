// Which steps the device does sooner than the CPU: by what the CPU takes for their work, and what a step on a
// device takes whatever its work is. Figures were measured on two machines (docs/gpu.md), none of which is
// the one that runs this: they tell a step of 1 us from one of 100.
#ifndef ASSAY_GPU_PLACEMENT_H_
#define ASSAY_GPU_PLACEMENT_H_

#include <string>

#include "engines/engine.h"

namespace assay::gpu {

// A step by itself on an H200: 4 KiB copied there, a kernel, and the result copied back took 16 to 22 us. Of
// that the launch is 3.3 to 4.5 us, a wait about 9.
inline constexpr double kDeviceStepMicroseconds = 22;

// What the engine `exact` takes for the instruction on two cores, by the table of placement.cc. Infinite
// where the work is not known.
double CpuMicroseconds(const StepView& step);

// Why the step stays on the CPU; empty: it is the device's. That is where the CPU takes longer than
// kDeviceStepMicroseconds for one of its members, where the device has made what it reads, and where it
// counts for steps of a loop that are the device's.
std::string WhyOnCpu(const FusionView& step);

}  // namespace assay::gpu

#endif  // ASSAY_GPU_PLACEMENT_H_
