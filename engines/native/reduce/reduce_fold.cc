// Runs of neighbouring elements are folded into lanes: one lane a result where the results lie together, else
// the lanes of a run are folded together at its end. Long runs, and many rows,
// are cut into parts for the threads.
#include "engines/native/reduce/reduce_fold.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>

#include "base/parallel.h"
#include "engines/native/sums/row_source.h"
#include "engines/native/walk/move.h"
#include "literal/element_io.h"
#include "literal/float_format.h"

namespace assay::native {
namespace {

constexpr int64_t kLaneBytes = 4096;              // of partial results: they stay in the L1 cache
constexpr int64_t kPart = 1 << 17;                // elements of a run folded by one task
constexpr int64_t kFoldElementsOfPart = 1 << 16;  // elements worth a task
constexpr int64_t kElementsBetweenCharges = 1 << 28;
// Runs as short as this are folded side by side, a lane each: folding a vector's lanes together takes as long
// as many vectors of a run.
constexpr int64_t kShortRun = 24;
constexpr int64_t kFewRuns = 8;

bool HasOrderedPatterns(ElementType type) {
  const FloatFormat& format = *Info(type).format;
  const bool sign_on_top = format.bits == 8 * Bytes(type);
  return sign_on_top && (format.specials == FloatSpecials::kIeee || format.specials == FloatSpecials::kFn);
}

FoldOp FoldOpOf(KeyOp op, ElementType type) {
  switch (op) {
    case KeyOp::kAdd:
      return FoldOp::kAdd;
    case KeyOp::kMultiply:
      return FoldOp::kMultiply;
    case KeyOp::kAnd:
      return FoldOp::kAnd;
    case KeyOp::kOr:
      return FoldOp::kOr;
    case KeyOp::kXor:
      return FoldOp::kXor;
    case KeyOp::kMaximum:
      if (IsFloat(type)) return FoldOp::kFloatMaximum;
      return IsSignedIntegral(type) ? FoldOp::kSignedMaximum : FoldOp::kUnsignedMaximum;
    case KeyOp::kMinimum:
      if (IsFloat(type)) return FoldOp::kFloatMinimum;
      return IsSignedIntegral(type) ? FoldOp::kSignedMinimum : FoldOp::kUnsignedMinimum;
  }
  return FoldOp::kAdd;
}

uint64_t LowBits(int bits) { return bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1; }

uint64_t IdentityPattern(FoldOp op, int bits) {
  switch (op) {
    case FoldOp::kMultiply:
      return 1;
    case FoldOp::kAnd:
    case FoldOp::kUnsignedMinimum:
      return LowBits(bits);
    case FoldOp::kSignedMaximum:
    case FoldOp::kFloatMaximum:
      return uint64_t{1} << (bits - 1);
    case FoldOp::kSignedMinimum:
    case FoldOp::kFloatMinimum:
      return LowBits(bits - 1);
    default:
      return 0;
  }
}

// Keys in the order of the values to the values' patterns: of what has the sign set, the other bits flipped.
template <class S>
void PatternsOf(std::byte* keys, int64_t n) {
  constexpr auto kBytes = static_cast<int64_t>(sizeof(S));
  for (int64_t j = 0; j < n; ++j) {
    S key;
    std::memcpy(&key, keys + j * kBytes, sizeof(S));
    if (key < 0) key = static_cast<S>(key ^ std::numeric_limits<S>::max());
    std::memcpy(keys + j * kBytes, &key, sizeof(S));
  }
}

class ArrayFolder {
 public:
  ArrayFolder(EvalContext& context, const TypedFold& typed, const ArrayFold& fold)
      : context_(context),
        typed_(typed),
        fold_(fold),
        bytes_(Bytes(typed.type)),
        lanes_(kLaneBytes / bytes_),
        remaining_(MergeLoops(fold.remaining)),
        reduced_(MergeLoops(fold.reduced)) {
    LoadKeys(typed.op, typed.type, fold.init, bytes_, 1, &init_);
  }

  absl::Status Run() {
    if (LoopCount(remaining_) == 0) return absl::OkStatus();
    return !remaining_.empty() && remaining_.back().strides[0] == 1 ? SideBySide() : OneByOne();
  }

 private:
  void Clear(std::byte* lanes, int64_t n) const {
    FillElements(static_cast<int>(bytes_), reinterpret_cast<const std::byte*>(&typed_.identity), lanes, n);
  }

  // Folded values as keys (associative.h) of the type; n <= kStrip. `lanes` are overwritten.
  void KeysOf(std::byte* lanes, int64_t n, int64_t* keys) const {
    if (typed_.float_keys) {
      // Back to the type's patterns; NaN is beyond everything and so not a number there either.
      switch (bytes_) {
        case 1:
          PatternsOf<int8_t>(lanes, n);
          break;
        case 2:
          PatternsOf<int16_t>(lanes, n);
          break;
        case 4:
          PatternsOf<int32_t>(lanes, n);
          break;
        default:
          PatternsOf<int64_t>(lanes, n);
      }
    }
    LoadKeys(typed_.op, typed_.type, lanes, bytes_, n, keys);
  }
  void Store(int64_t key, int64_t at) const {
    key = Apply(typed_.op, init_, key);
    StoreKeys(typed_.op, typed_.type, &key, 1, fold_.result + at * bytes_, bytes_);
  }

  // Folded values, put together with init, to results that are `stride` elements apart.
  void StoreFolded(std::byte* lanes, int64_t n, int64_t at, int64_t stride) const {
    int64_t keys[kStrip];
    for (int64_t first = 0; first < n; first += kStrip) {
      const int64_t count = std::min(kStrip, n - first);
      KeysOf(lanes + first * bytes_, count, keys);
      for (int64_t j = 0; j < count; ++j) keys[j] = Apply(typed_.op, init_, keys[j]);
      StoreKeys(typed_.op, typed_.type, keys, count, fold_.result + (at + first * stride) * bytes_,
                stride * bytes_);
    }
  }

  // Reduced elements lie together: `length` of them in a run.
  absl::Status OneByOne() {
    const LoopDim run = TakeInnermostLoop(reduced_);
    const std::vector<int64_t> runs = OffsetsOf(reduced_, 0), bases = OffsetsOf(remaining_, 0),
                               results = OffsetsOf(remaining_, 1);
    const int64_t parts = (run.size + kPart - 1) / kPart;
    const auto n = static_cast<int64_t>(bases.size());
    const int64_t elements = run.size * static_cast<int64_t>(runs.size());
    if (parts > 1) {
      std::vector<int64_t> keys(parts);
      for (int64_t i = 0; i < n; ++i) {
        int64_t key = IdentityOf(typed_.op);
        for (int64_t start : runs) {
          context_.parallel().For(parts, 1, [&](int64_t begin, int64_t end) {
            for (int64_t part = begin; part < end; ++part)
              keys[part] = FoldRun(bases[i] + start + part * kPart, std::min(kPart, run.size - part * kPart));
          });
          for (int64_t part : keys) key = Apply(typed_.op, key, part);
          ASSAY_RETURN_IF_ERROR(context_.Charge(run.size));
        }
        Store(key, results[i]);
      }
      return absl::OkStatus();
    }
    const int64_t most = kElementsBetweenCharges / (elements + 1) + 1;
    for (int64_t done = 0; done < n; done += most) {
      const int64_t some = std::min(most, n - done);
      context_.parallel().For(
          some, kFoldElementsOfPart / (elements + 64) + 1, [&](int64_t begin, int64_t end) {
            if (runs.size() == 1 && runs[0] == 0)
              return FoldRuns(done + begin, done + end, bases.data(), results.data(), run.size);
            for (int64_t i = done + begin; i < done + end; ++i) {
              int64_t key = IdentityOf(typed_.op);
              for (int64_t start : runs) key = Apply(typed_.op, key, FoldRun(bases[i] + start, run.size));
              Store(key, results[i]);
            }
          });
      ASSAY_RETURN_IF_ERROR(context_.Charge(some * (elements + 1)));
    }
    return absl::OkStatus();
  }

  uint64_t FoldedRun(int64_t at, int64_t n) const {
    return typed_.run(n, fold_.input + at * bytes_, typed_.largest);
  }
  int64_t FoldRun(int64_t at, int64_t n) const {
    const uint64_t folded = FoldedRun(at, n);
    alignas(8) std::byte lane[8];
    std::memcpy(lane, &folded, sizeof(lane));  // little endian: the element comes first
    int64_t key;
    KeysOf(lane, 1, &key);
    return key;
  }

  // Results [begin, end), one run each: as many as lie together are stored together.
  void FoldRuns(int64_t begin, int64_t end, const int64_t* bases, const int64_t* results,
                int64_t length) const {
    alignas(64) std::byte lanes[kStrip * 8];
    while (begin < end) {
      int64_t n = 1;
      while (n < kStrip && begin + n < end && results[begin + n] == results[begin] + n) ++n;
      const int64_t step = n > 1 ? bases[begin + 1] - bases[begin] : 0;
      if (length <= kShortRun && n >= kFewRuns && bases[begin + n - 1] - bases[begin] == (n - 1) * step) {
        FoldShortRuns(bases[begin], step, n, length, lanes);
      } else {
        for (int64_t j = 0; j < n; ++j) {
          const uint64_t folded = FoldedRun(bases[begin + j], length);
          std::memcpy(lanes + j * bytes_, &folded, static_cast<size_t>(bytes_));
        }
      }
      StoreFolded(lanes, n, results[begin], 1);
      begin += n;
    }
  }

  // n runs that begin `step` elements apart.
  void FoldShortRuns(int64_t at, int64_t step, int64_t n, int64_t length, std::byte* lanes) const {
    constexpr int64_t kAtOnce = 64;
    alignas(64) std::byte columns[kShortRun * kAtOnce * 8];
    Clear(lanes, n);
    for (int64_t first = 0; first < n; first += kAtOnce) {
      const int64_t some = std::min(kAtOnce, n - first);
      StridedMove(static_cast<int>(bytes_), std::array{length, some}, std::array{int64_t{1}, step},
                  std::array{some, int64_t{1}})
          .Run(fold_.input + (at + first * step) * bytes_, columns);
      for (int64_t t = 0; t < length; ++t)
        typed_.combine(some, columns + t * some * bytes_, lanes + first * bytes_, typed_.largest);
    }
  }

  absl::Status SideBySide() {
    const LoopDim inner = TakeInnermostLoop(remaining_);
    const std::vector<int64_t> bases = OffsetsOf(remaining_, 0), results = OffsetsOf(remaining_, 1);
    const std::vector<int64_t> rows = OffsetsOf(reduced_, 0);
    const int64_t blocks = (inner.size + lanes_ - 1) / lanes_;
    const auto n = static_cast<int64_t>(bases.size()) * blocks;
    const int64_t elements = std::min(inner.size, lanes_) * static_cast<int64_t>(rows.size()) + 1;
    const int64_t most = kElementsBetweenCharges / elements + 1;
    for (int64_t done = 0; done < n; done += most) {
      const int64_t some = std::min(most, n - done);
      context_.parallel().For(some, kFoldElementsOfPart / elements + 1, [&](int64_t begin, int64_t end) {
        alignas(64) std::byte lanes[kLaneBytes];
        for (int64_t i = done + begin; i < done + end; ++i) {
          const int64_t outer = i / blocks, first = i % blocks * lanes_;
          const int64_t count = std::min(lanes_, inner.size - first);
          Clear(lanes, count);
          for (int64_t row : rows)
            typed_.combine(count, fold_.input + (bases[outer] + row + first) * bytes_, lanes, typed_.largest);
          StoreFolded(lanes, count, results[outer] + first * inner.strides[1], inner.strides[1]);
        }
      });
      ASSAY_RETURN_IF_ERROR(context_.Charge(some * elements));
    }
    return absl::OkStatus();
  }

  EvalContext& context_;
  const TypedFold& typed_;
  const ArrayFold& fold_;
  const int64_t bytes_, lanes_;
  LoopDims remaining_, reduced_;
  int64_t init_ = 0;
};

}  // namespace

TypedFold TypedFoldOf(const FoldKernels& kernels, KeyOp op, ElementType type) {
  if (IsFloat(type) && !HasOrderedPatterns(type)) return {};
  if (IsComplex(type)) return {};
  const FoldOp fold_op = FoldOpOf(op, type);
  const int bits = 8 * Bytes(type), size = std::countr_zero(static_cast<unsigned>(Bytes(type)));
  TypedFold fold{.combine = kernels.of[size][static_cast<int>(fold_op)],
                 .run = kernels.run[size][static_cast<int>(fold_op)],
                 .op = op,
                 .type = type,
                 .identity = IdentityPattern(fold_op, bits),
                 .float_keys = IsFloat(type),
                 .stays_in_type = type == ElementType::kPred || Info(type).bits == bits ||
                                  (op != KeyOp::kAdd && op != KeyOp::kMultiply)};
  if (IsFloat(type)) {
    const FloatFormat& format = *Info(type).format;
    fold.largest = EncodeFloat(format.has_infinity() ? HUGE_VAL : format.max_finite, format);
  }
  return fold;
}

bool IsFoldable(const ArrayFold& fold) {
  const LoopDims remaining = MergeLoops(fold.remaining), reduced = MergeLoops(fold.reduced);
  if (LoopCount(reduced) <= 1) return false;
  if (!remaining.empty() && remaining.back().strides[0] == 1) return remaining.back().size >= 16;
  return reduced.back().strides[0] == 1;
}

absl::Status RunArrayFold(EvalContext& context, const TypedFold& typed, const ArrayFold& fold) {
  return ArrayFolder(context, typed, fold).Run();
}

}  // namespace assay::native
