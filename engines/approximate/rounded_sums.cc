#include "engines/approximate/rounded_sums.h"

#include <array>

#include "engines/approximate/double_dot.h"
#include "engines/approximate/single_dot.h"
#include "engines/approximate/single_tiles.h"
#include "engines/native/contraction/convolution.h"
#include "engines/native/contraction/depthwise.h"

namespace assay::approximate {
namespace {

// Fewer products of 16 bits are small dots, or few patches, of the native engine.
constexpr int64_t kFewestHalves = 1 << 18, kFewestOfConvolution = 1 << 17;
// Fewer products of f32 take as long by the exact kernels.
constexpr int64_t kFewestOfTiles = 1 << 18;

struct Fewest {  // products
  int64_t f32 = 1 << 12, f64 = 1 << 18, tiles = kFewestOfTiles, halves = kFewestHalves,
          convolution = kFewestOfConvolution;
};

class RoundedSums final : public Engine {
 public:
  RoundedSums(Isa isa, const Fewest& fewest) : isa_(isa), fewest_(fewest) {}
  std::string_view name() const override { return "rounded-sums"; }
  bool MayTake(Opcode opcode) const override {
    return opcode == Opcode::kConvolution || opcode == Opcode::kDot;
  }

  absl::StatusOr<std::shared_ptr<const Kernel>> Prepare(const FusionView& fusion) const override {
    ASSAY_ASSIGN_OR_RETURN(const StepView step, SingleInstruction(fusion));
    if (step.instruction.opcode == Opcode::kConvolution) {
      const bool tiles_only = fewest_.convolution == 1;  // for tests of the tiles
      if (!tiles_only && native::WhyNotConvolution(step).empty() &&
          native::WhyNotDepthwise(step, isa_).empty())
        return NotSupported({}, "the exact kernel of depthwise convolutions is faster");
      return PrepareSingleTiles(step, isa_, fewest_.convolution);
    }
    if (step.instruction.opcode != Opcode::kDot) return NotSupported({}, "takes only dot and convolution");
    const ElementType type =
        step.result_shape().IsArray() ? step.result_shape().element_type() : ElementType::kPred;
    if (type == ElementType::kF64) return PrepareDoubleDot(step, isa_, fewest_.f64);
    const bool singles = step.operand_shape(0).element_type() == ElementType::kF32;
    if (!singles) return PrepareSingleTiles(step, isa_, fewest_.halves);
    // Where nothing has to be packed, tiles take more time: 1.2 to 1.8 times as much at 2^24 products.
    const bool tiles_first = fewest_.tiles == 1;
    absl::StatusOr<std::shared_ptr<const Kernel>> in_place = PrepareSingleDot(step, isa_, fewest_.f32);
    if (in_place.ok() && !tiles_first) return in_place;
    absl::StatusOr<std::shared_ptr<const Kernel>> tiles = PrepareSingleTiles(step, isa_, fewest_.tiles);
    return tiles.ok() ? tiles : in_place;
  }

 private:
  const Isa isa_;
  const Fewest fewest_;
};

using RoundedSumsOfIsas = std::array<RoundedSums, 3>;

RoundedSumsOfIsas MakeRoundedSums(const Fewest& fewest) {
  return {RoundedSums(Isa::kBaseline, fewest), RoundedSums(Isa::kAvx2, fewest),
          RoundedSums(Isa::kAvx512, fewest)};
}

}  // namespace

const Engine& RoundedSumsEngine(Isa isa) {
  static const RoundedSumsOfIsas engines = MakeRoundedSums({});
  return engines[static_cast<size_t>(isa)];
}

const Engine& EagerRoundedSumsEngine(Isa isa) {
  static const RoundedSumsOfIsas engines = MakeRoundedSums({.f32 = 1, .f64 = 1});
  return engines[static_cast<size_t>(isa)];
}

const Engine& EagerTilesEngine(Isa isa) {
  static const RoundedSumsOfIsas engines =
      MakeRoundedSums({.f32 = 1, .f64 = 1, .tiles = 1, .halves = 1, .convolution = 1});
  return engines[static_cast<size_t>(isa)];
}

}  // namespace assay::approximate
