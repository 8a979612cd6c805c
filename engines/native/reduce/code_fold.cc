#include "engines/native/reduce/code_fold.h"

#include <emmintrin.h>

#include <algorithm>
#include <cstring>

#include "base/parallel.h"
#include "engines/codegen/scalar_code.h"
#include "engines/native/reduce/window_lines.h"
#include "engines/native/sums/row_source.h"
#include "engines/native/walk/loops.h"
#include "evaluator/eval_context.h"
#include "evaluator/registry.h"
#include "evaluator/runtime_sizes.h"
#include "fmt/format.h"

namespace assay::native {
namespace {

using codegen::ScalarCode;

constexpr int64_t kElementsOfPart = 1 << 13;   // worth a task
constexpr int64_t kElementsOfRound = 1 << 22;  // between two charges
constexpr int64_t kTile = 64;                  // steps of a tile

// One operand of a reduce.
struct Folded {
  const std::byte* input;
  const std::byte* init;
  std::byte* result;
  int64_t bytes;
};

// Folds some results, one after the other or as many side by side as the code has lanes;
// each thread has its own.
class CodeFolder {
 public:
  // `run`: the innermost of the reduced loops; `runs`: where it starts.
  CodeFolder(const ScalarCode& code, std::span<const Folded> operands, const LoopDim& run,
             std::span<const int64_t> runs)
      : operands_(operands),
        run_(run),
        runs_(runs),
        lanes_(code.lanes()),
        single_(code, /*vectors=*/false),
        vectors_(code, /*vectors=*/true),
        values_(operands.size()),
        tiles_(operands.size()) {
    for (size_t k = 0; k < operands.size(); ++k) {
      for (ScalarCode::Frame* frame : {&single_, &vectors_}) {
        frame->SetInput(k, values_[k].bytes);
        frame->SetInputStride(k, 0);
        frame->SetOutput(k, values_[k].bytes);
        frame->SetOutputStride(k, 0);
      }
      single_.SetInputStride(operands.size() + k, run.strides[0] * operands[k].bytes);
    }
  }

  int64_t lanes() const { return lanes_; }

  void One(int64_t base, int64_t result) {
    for (size_t k = 0; k < operands_.size(); ++k) Copy(k, operands_[k].init, values_[k].bytes);
    for (int64_t start : runs_) {
      for (size_t k = 0; k < operands_.size(); ++k)
        single_.SetInput(operands_.size() + k, operands_[k].input + (base + start) * operands_[k].bytes);
      single_.Run(run_.size);
    }
    for (size_t k = 0; k < operands_.size(); ++k)
      Copy(k, values_[k].bytes, operands_[k].result + result * operands_[k].bytes);
  }

  // lanes() results, whose elements start at the bases.
  void SideBySide(const int64_t* bases, const int64_t* results) {
    for (size_t k = 0; k < operands_.size(); ++k) {
      for (int64_t i = 0; i < lanes_; ++i)
        Copy(k, operands_[k].init, values_[k].bytes + i * operands_[k].bytes);
    }
    bool together = true;
    for (int64_t i = 1; i < lanes_; ++i) together &= bases[i] == bases[0] + i;
    for (int64_t start : runs_) {
      if (together) {
        FoldRows(bases[0] + start);
      } else {
        FoldTiles(bases, start);
      }
    }
    for (size_t k = 0; k < operands_.size(); ++k) {
      for (int64_t i = 0; i < lanes_; ++i)
        Copy(k, values_[k].bytes + i * operands_[k].bytes,
             operands_[k].result + results[i] * operands_[k].bytes);
    }
  }

 private:
  struct alignas(64) Values {
    std::byte bytes[jit::kMaxLanes * 8];
  };
  struct alignas(64) Tile {
    std::byte bytes[kTile * jit::kMaxLanes * 8];
  };

  void Copy(size_t k, const std::byte* from, std::byte* to) const {
    std::memcpy(to, from, static_cast<size_t>(operands_[k].bytes));
  }

  // The lanes' elements are neighbours.
  void FoldRows(int64_t at) {
    for (size_t k = 0; k < operands_.size(); ++k) {
      vectors_.SetInput(operands_.size() + k, operands_[k].input + at * operands_[k].bytes);
      vectors_.SetInputStride(operands_.size() + k, run_.strides[0] * operands_[k].bytes);
    }
    vectors_.Run(run_.size);
  }

  // They are brought together, some steps at a time.
  void FoldTiles(const int64_t* bases, int64_t start) {
    for (int64_t done = 0; done < run_.size; done += kTile) {
      const int64_t steps = std::min(kTile, run_.size - done);
      for (size_t k = 0; k < operands_.size(); ++k) {
        FillTile(k, bases, start + done * run_.strides[0], steps);
        vectors_.SetInput(operands_.size() + k, tiles_[k].bytes);
        vectors_.SetInputStride(operands_.size() + k, lanes_ * operands_[k].bytes);
      }
      vectors_.Run(steps);
    }
  }
  void FillTile(size_t k, const int64_t* bases, int64_t offset, int64_t steps) {
    switch (operands_[k].bytes) {
      case 1:
        return FillTileOf<1>(k, bases, offset, steps);
      case 2:
        return FillTileOf<2>(k, bases, offset, steps);
      case 4:
        return FillTileOf<4>(k, bases, offset, steps);
      default:
        return FillTileOf<8>(k, bases, offset, steps);
    }
  }
  template <int kBytes>
  void FillTileOf(size_t k, const int64_t* bases, int64_t offset, int64_t steps) {
    const int64_t stride = run_.strides[0] * kBytes, width = lanes_ * kBytes;
    int64_t turned = 0;
    if (kBytes == 4 && run_.strides[0] == 1 && lanes_ % 4 == 0) turned = TurnTile(k, bases, offset, steps);
    for (int64_t i = 0; i < lanes_; ++i) {
      const std::byte* from = operands_[k].input + (bases[i] + offset) * kBytes;
      std::byte* to = tiles_[k].bytes + i * kBytes;
      from += turned * stride, to += turned * width;
      for (int64_t s = turned; s < steps; ++s, from += stride, to += width) std::memcpy(to, from, kBytes);
    }
  }
  // Elements of 4 bytes that lie together, four steps of four lanes at a time; returns how many steps.
  int64_t TurnTile(size_t k, const int64_t* bases, int64_t offset, int64_t steps) {
    const float* const input = reinterpret_cast<const float*>(operands_[k].input) + offset;
    float* const tile = reinterpret_cast<float*>(tiles_[k].bytes);
    for (int64_t i = 0; i < lanes_; i += 4) {
      const float *const a = input + bases[i], *const b = input + bases[i + 1],
                         *const c = input + bases[i + 2], *const d = input + bases[i + 3];
      for (int64_t s = 0; s + 4 <= steps; s += 4) {
        __m128 p = _mm_loadu_ps(a + s), q = _mm_loadu_ps(b + s), r = _mm_loadu_ps(c + s),
               t = _mm_loadu_ps(d + s);
        _MM_TRANSPOSE4_PS(p, q, r, t);
        float* const to = tile + s * lanes_ + i;
        _mm_storeu_ps(to, p);
        _mm_storeu_ps(to + lanes_, q);
        _mm_storeu_ps(to + 2 * lanes_, r);
        _mm_storeu_ps(to + 3 * lanes_, t);
      }
    }
    return steps / 4 * 4;
  }

  const std::span<const Folded> operands_;
  const LoopDim run_;
  const std::span<const int64_t> runs_;
  const int64_t lanes_;
  ScalarCode::Frame single_, vectors_;
  std::vector<Values> values_;
  std::vector<Tile> tiles_;
};

class CodeReduce final : public Kernel {
 public:
  CodeReduce(std::shared_ptr<const ScalarCode> code, const std::optional<ReadThrough>& through)
      : code_(std::move(code)), through_(through) {}

  absl::StatusOr<Literal> Run(EvalContext& context, std::span<Literal> operands) const override {
    const size_t n = operands.size() / 2;
    DimVector sizes, strides;
    if (through_) {
      sizes = through_->sizes, strides = through_->strides;
    } else {
      ASSAY_ASSIGN_OR_RETURN(sizes, CommonRuntimeSizes(context, operands.first(n)));
      strides = StridesOf(operands[0]);
    }
    const bool tuple = context.result_shape().IsTuple();
    const bool zero = HasDynamicDimension(context.result_shape());
    std::vector<Literal> results;
    std::vector<Folded> folded;
    for (size_t k = 0; k < n; ++k) {
      ASSAY_ASSIGN_OR_RETURN(Literal result, tuple ? context.NewResultElement(static_cast<int64_t>(k), zero)
                                                   : context.NewResult(zero));
      results.push_back(std::move(result));
      folded.push_back({operands[k].data(), operands[n + k].data(), results[k].MutableBytes().data(),
                        Bytes(operands[k].shape().element_type())});
    }
    const ReduceLoops loops(sizes, strides, StridesOf(results[0]),
                            context.attributes().List(Attr::kDimensions));
    ASSAY_RETURN_IF_ERROR(Fold(context, folded, MergeLoops(loops.remaining), MergeLoops(loops.reduced)));
    for (Literal& result : results) SetRuntimeSizes(result, loops.result_sizes);
    if (!tuple) return std::move(results[0]);
    return Literal::Tuple(context.shared_result_shape(), std::move(results));
  }

 private:
  absl::Status Fold(EvalContext& context, std::span<const Folded> folded, const LoopDims& remaining,
                    LoopDims reduced) const {
    const std::vector<int64_t> bases = OffsetsOf(remaining, 0), results = OffsetsOf(remaining, 1);
    LoopDim run = TakeInnermostLoop(reduced);
    std::vector<int64_t> runs = OffsetsOf(reduced, 0);
    if (run.size == 0) runs.clear();
    const int64_t elements = run.size * static_cast<int64_t>(runs.size()) + 1, lanes = code_->lanes();
    const auto n = static_cast<int64_t>(bases.size());
    const int64_t groups = (n + lanes - 1) / lanes;
    const int64_t most = kElementsOfRound / (elements * lanes) + 1;
    for (int64_t done = 0; done < groups; done += most) {
      const int64_t some = std::min(most, groups - done);
      context.parallel().For(some, kElementsOfPart / (elements * lanes) + 1, [&](int64_t begin, int64_t end) {
        CodeFolder folder(*code_, folded, run, runs);
        for (int64_t g = done + begin; g < done + end; ++g) {
          const int64_t first = g * lanes;
          if (first + lanes <= n) {
            folder.SideBySide(bases.data() + first, results.data() + first);
            continue;
          }
          for (int64_t i = first; i < n; ++i) folder.One(bases[i], results[i]);
        }
      });
      ASSAY_RETURN_IF_ERROR(context.Charge(some * lanes * elements));
    }
    return absl::OkStatus();
  }

  const std::shared_ptr<const ScalarCode> code_;
  const std::optional<ReadThrough> through_;
};

class CumulativeWindow final : public Kernel {
 public:
  CumulativeWindow(std::shared_ptr<const ScalarCode> code, std::shared_ptr<const Kernel> others)
      : code_(std::move(code)), others_(std::move(others)) {}

  absl::StatusOr<Literal> Run(EvalContext& context, std::span<Literal> operands) const override {
    const auto by_others = [&] { return others_->Run(context, operands); };
    const Literal& x = operands[0];
    if (context.result_shape().HasDynamic() || !x.IsFullSize() || x.shape().num_elements() == 0 ||
        context.result_shape().num_elements() == 0) {
      return by_others();
    }
    ASSAY_ASSIGN_OR_RETURN(Literal result, context.NewResult());
    const auto lines = WindowLines::Of(context.attributes().WindowOf(), x.runtime_sizes(), StridesOf(x),
                                       result.runtime_sizes(), StridesOf(result));
    bool cumulative = lines && lines->line().IsCumulative();
    for (int64_t l = 0; cumulative && l < lines->lines(); ++l) cumulative = lines->Rows(l).size() == 1;
    if (!cumulative) {
      result = Literal();
      return by_others();
    }
    std::byte* const out = result.MutableBytes().data();
    const int64_t bytes = Bytes(x.shape().element_type());
    const int64_t work = lines->line().outputs + lines->line().elements;
    const int64_t most = kElementsOfRound / work + 1;
    for (int64_t done = 0; done < lines->lines(); done += most) {
      const int64_t some = std::min(most, lines->lines() - done);
      context.parallel().For(some, kElementsOfPart / work + 1, [&](int64_t begin, int64_t end) {
        ScalarCode::Frame frame(*code_, /*vectors=*/false);
        for (int64_t l = done + begin; l < done + end; ++l)
          FoldLine(frame, *lines, l, bytes, x.data(), operands[1].data(), out);
      });
      ASSAY_RETURN_IF_ERROR(context.Charge(some * work));
    }
    return result;
  }

 private:
  static void FoldLine(ScalarCode::Frame& frame, const WindowLines& lines, int64_t l, int64_t bytes,
                       const std::byte* input, const std::byte* init, std::byte* result) {
    const WindowLine& line = lines.line();
    const std::byte* const elements = input + lines.Rows(l)[0] * bytes;
    std::byte* const out = result + lines.result_at(l) * bytes;
    const int64_t step = lines.stride() * bytes, out_step = lines.result_stride() * bytes;
    const std::byte* last = init;  // the window before
    frame.SetInputStride(1, step);
    for (int64_t o = 0; o < line.outputs;) {
      const int64_t done = o > 0 ? line.end(o - 1) : 0;
      const int64_t singles = std::min(line.SinglesFrom(o), line.outputs - o);
      std::byte* const to = out + o * out_step;
      if (singles > 0) {
        // The first one from where the last result is, the others from the result before.
        frame.SetInput(1, elements + done * step);
        frame.SetInput(0, last);
        frame.SetOutput(0, to);
        frame.SetInputStride(0, 0);
        frame.SetOutputStride(0, 0);
        frame.Run(1);
        if (singles > 1) {
          frame.SetInput(1, elements + (done + 1) * step);
          frame.SetInput(0, to);
          frame.SetOutput(0, to + out_step);
          frame.SetInputStride(0, out_step);
          frame.SetOutputStride(0, out_step);
          frame.Run(singles - 1);
        }
        o += singles;
      } else {
        std::memcpy(to, last, static_cast<size_t>(bytes));
        if (done < line.end(o)) {
          frame.SetInput(1, elements + done * step);
          frame.SetInput(0, to);
          frame.SetOutput(0, to);
          frame.SetInputStride(0, 0);
          frame.SetOutputStride(0, 0);
          frame.Run(line.end(o) - done);
        }
        ++o;
      }
      last = out + (o - 1) * out_step;
    }
  }

  const std::shared_ptr<const ScalarCode> code_;
  const std::shared_ptr<const Kernel> others_;
};

}  // namespace

absl::StatusOr<std::shared_ptr<const ScalarCode>> CodeFor(const StepView& step, Isa isa, int64_t n,
                                                          int64_t first, int64_t second, int64_t work,
                                                          bool vectors) {
  constexpr int64_t kWorthCode = 1 << 10;  // applications that take the reference as long as making code
  if (work < kWorthCode)
    return NotSupported({}, fmt::format("too few applications ({}) to generate code", work));
  const ComputationId id = *step.instruction.attributes.Computation(Attr::kToApply);
  const Computation& computation = step.module.computation(id);
  const auto parameter = [&](int64_t k) {
    return computation.instructions[static_cast<size_t>(computation.parameters[static_cast<size_t>(k)])]
        .shape->element_type();
  };
  for (int64_t k = 0; k < n; ++k) {
    const ElementType type = step.operand_shape(first + k).element_type();
    if (parameter(k) != type || parameter(n + k) != type ||
        step.operand_shape(second + k).element_type() != type)
      return NotSupported({}, "operand types differ from those of the computation");
  }
  return ScalarCode::Make(step.module, id, isa, vectors);
}

absl::StatusOr<std::shared_ptr<const Kernel>> PrepareCodeReduce(const StepView& step, Isa isa,
                                                                const std::optional<ReadThrough>& through) {
  // A thread folds a result without a look at the clock.
  constexpr int64_t kMaxReadThrough = 1 << 22;
  if (through && step.operand_shape(0).num_elements() / kMaxReadThrough >=
                     std::max<int64_t>(step.result_shape().num_elements(), 1)) {
    return NotSupported({}, "too many elements per result");
  }
  const auto n = static_cast<int64_t>(step.instruction.operands.size()) / 2;
  ASSAY_ASSIGN_OR_RETURN(std::shared_ptr<const ScalarCode> code,
                         CodeFor(step, isa, n, 0, n, step.operand_shape(0).num_elements(), /*vectors=*/true));
  return std::make_shared<CodeReduce>(std::move(code), through);
}

std::shared_ptr<const Kernel> MakeCumulativeWindow(std::shared_ptr<const ScalarCode> code,
                                                   std::shared_ptr<const Kernel> others) {
  return std::make_shared<CumulativeWindow>(std::move(code), std::move(others));
}

}  // namespace assay::native
