#include "gpu/placement.h"

#include <algorithm>
#include <iterator>
#include <limits>

#include "evaluator/registry.h"
#include "fmt/format.h"

namespace assay::gpu {
namespace {

// What the work of an op is measured by.
enum class Unit : uint8_t {
  kFlop,    // of dots and convolutions: Work::flops
  kResult,  // elements of the result
  kRead,    // elements of operand 0
  kUpdate,  // elements of the updates, operand 2
};

struct Row {
  Opcode opcode;
  Unit unit;
  double nanoseconds;  // for one
};

// The engine `exact` on two cores of a Xeon with AVX-512, 21 November 2026: XLA's time by the ratio in
// docs/data/performance.md, over the work of the case that is named.
constexpr Row kRows[] = {
    {Opcode::kConvolution, Unit::kFlop, 0.015},   // f32 8x56x56x64, 3x3
    {Opcode::kDot, Unit::kFlop, 0.013},           // f32 512; other types below
    {Opcode::kGather, Unit::kResult, 0.2},        // 10^5 rows of 32
    {Opcode::kReduce, Unit::kRead, 0.25},         // add f32, 2^24
    {Opcode::kReduceWindow, Unit::kResult, 0.6},  // cumulative sum f32, 2^20
    {Opcode::kScatter, Unit::kUpdate, 0.5},       // add of 10^5 rows of 32
    {Opcode::kSort, Unit::kRead, 6},              // f32, 10^5
    {Opcode::kTopK, Unit::kRead, 0.8},            // the 40 largest of each of 64 rows of 50,000
    {Opcode::kTranspose, Unit::kResult, 0.8},     // f32 4096 x 4096
};

// All else: a chain of four adds of 2^24 f32 took 0.37 ns an element, which is read and written; exp of f32
// in the cache 0.8 ns an element.
constexpr double kNanosecondsOfByte = 0.37 / 8, kNanosecondsOfFunction = 0.8;

// Dots of other types, a flop: f64 512; bf16 1024, f16 and f8 alike; s8 1024. Wider integers by the ratio to
// f32, 1.45 of 16 and 32 bits and 2.1 of 64 bits: 512, the least of ten runs of each in turns, on two cores
// of a busy machine.
double NanosecondsOfFlop(ElementType type) {
  if (type == ElementType::kF64) return 0.046;
  if (type == ElementType::kF32) return 0.013;
  if (IsFloat(type)) return 0.0055;
  return Bytes(type) == 1 ? 0.0003 : Bytes(type) < 8 ? 0.019 : 0.027;
}

constexpr int kDepth = 3;  // how many steps back it is looked who made an operand

bool IsProduced(const Instruction& instruction) {
  switch (instruction.opcode) {
    case Opcode::kConstant:
    case Opcode::kGetTupleElement:
    case Opcode::kParameter:
    case Opcode::kTuple:
      return false;
    default:
      return instruction.shape->IsArray() && !instruction.shape->HasUnbounded();
  }
}

bool IsTheDevices(const StepView& step, int depth) {
  if (CpuMicroseconds(step) >= kDeviceStepMicroseconds) return true;
  if (depth == 0) return false;
  return std::any_of(
      step.instruction.operands.begin(), step.instruction.operands.end(), [&](int32_t operand) {
        const Instruction& made = step.computation.instructions[static_cast<size_t>(operand)];
        return IsProduced(made) && IsTheDevices({step.module, step.computation, made}, depth - 1);
      });
}

// Whether it makes a number in a loop of which some slice on the device depends: elsewhere it would be copied
// there in each iteration.
bool CountsForDevice(const FusionView& step) {
  const Shape& shape = *step.root().shape;
  if (!step.in_loop || !shape.IsArray() || shape.rank() != 0 || !IsIntegral(shape.element_type()))
    return false;
  return std::any_of(
      step.computation.instructions.begin(), step.computation.instructions.end(),
      [&](const Instruction& other) {
        return (other.opcode == Opcode::kDynamicSlice || other.opcode == Opcode::kDynamicUpdateSlice) &&
               IsTheDevices({step.module, step.computation, other}, kDepth);
      });
}

}  // namespace

double CpuMicroseconds(const StepView& step) {
  const InstructionView view{step.computation, step.instruction};
  const auto is_unbounded = [&](int32_t operand) {
    const Shape& shape = *step.computation.instructions[static_cast<size_t>(operand)].shape;
    return shape.IsArray() && shape.HasUnbounded();
  };
  if (std::any_of(step.instruction.operands.begin(), step.instruction.operands.end(), is_unbounded))
    return std::numeric_limits<double>::infinity();
  const Work work = DefinitionOf(step.instruction.opcode).work(view);
  if (!work.known) return std::numeric_limits<double>::infinity();
  const auto* const row = std::find_if(std::begin(kRows), std::end(kRows),
                                       [&](const Row& r) { return r.opcode == step.instruction.opcode; });
  double nanoseconds =
      (work.read + work.written) * kNanosecondsOfByte + work.functions * kNanosecondsOfFunction;
  if (row != std::end(kRows)) {
    const auto elements = [](const Shape& shape) {
      return shape.IsArray() && !shape.HasUnbounded() ? static_cast<double>(shape.num_elements()) : 0.0;
    };
    switch (row->unit) {
      case Unit::kFlop:
        nanoseconds = work.flops * (step.instruction.opcode == Opcode::kDot
                                        ? std::max(NanosecondsOfFlop(view.operand(0).element_type()),
                                                   NanosecondsOfFlop(view.operand(1).element_type()))
                                        : row->nanoseconds);
        break;
      case Unit::kResult:
        nanoseconds = elements(view.result()) * row->nanoseconds;
        break;
      case Unit::kRead:
        nanoseconds = elements(view.operand(0)) * row->nanoseconds;
        break;
      case Unit::kUpdate:
        nanoseconds = elements(view.operand(view.num_operands() - 1)) * row->nanoseconds;
        break;
    }
  }
  return nanoseconds / 1000;
}

std::string WhyOnCpu(const FusionView& step) {
  double sum = 0;
  for (const int32_t member : step.members) {
    const StepView single{step.module, step.computation,
                          step.computation.instructions[static_cast<size_t>(member)]};
    if (IsTheDevices(single, kDepth)) return {};
    sum += CpuMicroseconds(single);
  }
  if (sum >= kDeviceStepMicroseconds || CountsForDevice(step)) return {};
  return fmt::format("too little work (the CPU takes about {:.2g} us, a step on the device {})", sum,
                     kDeviceStepMicroseconds);
}

}  // namespace assay::gpu
