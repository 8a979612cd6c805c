#include "custom/lapack/lapack_kernel.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "custom/linalg/ladder.h"
#include "evaluator/eval_context.h"
#include "evaluator/meter.h"
#include "evaluator/runtime_sizes.h"
#include "fmt/format.h"
#include "literal/element_io.h"
#include "literal/float_format.h"

namespace assay::custom {
namespace {

constexpr int64_t kLapackAlignment = 64;
constexpr int64_t kTransposeBlock = 16;

// target[c, r] = source[r, c], both row-major; a block at a time,
// so that the lines of both stay in the cache.
template <int kBytes>
void TransposeElements(const std::byte* source, int64_t rows, int64_t columns, std::byte* target) {
  for (int64_t r0 = 0; r0 < rows; r0 += kTransposeBlock) {
    for (int64_t c0 = 0; c0 < columns; c0 += kTransposeBlock) {
      for (int64_t r = r0; r < std::min(r0 + kTransposeBlock, rows); ++r) {
        for (int64_t c = c0; c < std::min(c0 + kTransposeBlock, columns); ++c)
          std::memcpy(target + (c * rows + r) * kBytes, source + (r * columns + c) * kBytes, kBytes);
      }
    }
  }
}

void Transpose(const std::byte* source, int64_t rows, int64_t columns, int64_t bytes, std::byte* target) {
  if (bytes == 4) return TransposeElements<4>(source, rows, columns, target);
  if (bytes == 8) return TransposeElements<8>(source, rows, columns, target);
  TransposeElements<16>(source, rows, columns, target);
}

template <typename T>
bool AllFinite(const std::byte* data, int64_t count) {
  const T* const values = reinterpret_cast<const T*>(data);
  return std::all_of(values, values + count, [](T value) { return std::isfinite(value); });
}

// The array of one matrix in the batch of a literal, and in column-major order.
struct Placed {
  const ArrayRule* rule;
  ElementType type;
  int64_t elements, bytes;  // of one matrix
  std::byte* place = nullptr;
};

class Batch {
 public:
  Batch(EvalContext& context, const Routine& routine, const LapackCall& call, void* function,
        std::string_view name)
      : context_(context), routine_(routine), call_(call), name_(name), arguments_{call, function} {}

  absl::Status Run(std::span<const Literal> operands, std::span<Literal> results) {
    for (const ArrayRule& rule : routine_.operands) operands_.push_back(Place(rule));
    for (const ArrayRule& rule : routine_.results) results_.push_back(Place(rule));
    ASSAY_RETURN_IF_ERROR(Reserve());
    for (int64_t m = 0; m < call_.matrices; ++m) {
      ASSAY_ASSIGN_OR_RETURN(const int info, Calculate(operands, m));
      if (routine_.has_info) std::memcpy(results_.back().place, &info, sizeof(info));
      Store(results, m);
    }
    return absl::OkStatus();
  }

 private:
  Placed Place(const ArrayRule& rule) const {
    const ElementType type = call_.TypeOf(rule);
    const int64_t elements = call_.Elements(rule);
    return {&rule, type, elements, elements * Bytes(type)};
  }

  // The routine's work in units of up to a microsecond, roughly: iterations take some twenty times as long.
  int64_t Cost() const {
    double elements = 0, smallest = std::numeric_limits<double>::infinity();
    for (const Placed& array : operands_) elements = std::max(elements, static_cast<double>(array.elements));
    for (const int64_t size : call_.sizes) {
      if (size >= 0) smallest = std::min(smallest, static_cast<double>(size));
    }
    const double flops = elements * smallest * (routine_.finite != 0 ? 20 : 1);
    return static_cast<int64_t>(std::min(1 + flops / 1000, 1e15));
  }

  // What the routine says that it works fastest with, but no less than what it needs.
  absl::StatusOr<Workspace> WorkspaceOf() {
    if (routine_.workspace == nullptr || IsExact()) return Workspace{};
    Workspace need = routine_.workspace(call_);
    alignas(kLapackAlignment) std::byte nothing[2 * kLapackAlignment] = {}, liked[kLapackAlignment] = {};
    int ints[16] = {};
    LapackArguments query = arguments_;
    query.in.fill(nothing);
    query.out.fill(nothing);
    query.work = liked;
    query.reals = nothing + kLapackAlignment;
    query.ints = ints;
    query.num_work = query.num_reals = query.num_ints = -1;
    const int info = routine_.invoke(query);
    if (info != 0) return Refused(info);
    const bool is_single = call_.type == ElementType::kF32 || call_.type == ElementType::kC64;
    double elements = 0;
    if (is_single) {
      float value;
      std::memcpy(&value, liked, sizeof(value));
      elements =
          std::nextafter(value, std::numeric_limits<float>::infinity());  // it may have been rounded down
    } else {
      std::memcpy(&elements, liked, sizeof(elements));
    }
    if (elements > static_cast<double>(need.elements) && elements <= std::numeric_limits<int32_t>::max())
      need.elements = static_cast<int64_t>(elements);
    return need;
  }

  absl::Status Refused(int info) const {
    return EvalError({}, fmt::format("{}: the library refuses argument {}", name_, -info));
  }

  absl::Status Reserve() {
    ASSAY_ASSIGN_OR_RETURN(const Workspace need, WorkspaceOf());
    const int64_t real_bytes = Bytes(call_.is_complex() ? ComponentType(call_.type) : call_.type);
    const int64_t work_bytes[] = {need.elements * Bytes(call_.type), need.reals * real_bytes, need.ints * 4};
    int64_t bytes = 0;
    const auto add = [&bytes](int64_t more) {
      const int64_t offset = bytes;
      bytes += (more / kLapackAlignment + 1) * kLapackAlignment;
      return offset;
    };
    std::vector<int64_t> offsets;
    for (const int64_t more : work_bytes) offsets.push_back(add(more));
    for (const std::vector<Placed>* arrays : {&operands_, &results_}) {
      for (const Placed& array : *arrays) offsets.push_back(add(array.bytes));
    }
    const int64_t sizes[] = {bytes};
    ASSAY_ASSIGN_OR_RETURN(Shape shape, Shape::Array(ElementType::kU8, sizes));
    ASSAY_ASSIGN_OR_RETURN(scratch_, context_.NewLiteral(std::make_shared<const Shape>(std::move(shape)),
                                                         /*zero=*/true));
    std::byte* const base = scratch_.MutableBytes().data();
    size_t next = 0;
    arguments_.work = base + offsets[next++];
    arguments_.reals = base + offsets[next++];
    arguments_.ints = reinterpret_cast<int*>(base + offsets[next++]);
    arguments_.num_work = static_cast<int>(need.elements);
    arguments_.num_reals = static_cast<int>(need.reals);
    arguments_.num_ints = static_cast<int>(need.ints);
    for (size_t i = 0; i < operands_.size(); ++i) {
      operands_[i].place = base + offsets[next++];
      arguments_.in[i] = operands_[i].place;
    }
    for (size_t i = 0; i < results_.size(); ++i) {
      results_[i].place = base + offsets[next++];
      arguments_.out[i] = results_[i].place;
    }
    return absl::OkStatus();
  }

  void Load(std::span<const Literal> operands, int64_t m) {
    for (size_t i = 0; i < operands_.size(); ++i) {
      const Placed& array = operands_[i];
      const std::byte* const source = operands[i].data() + m * array.bytes;
      std::byte* const place = PlaceOf(i);
      if (array.rule->sizes.size() == 2) {
        Transpose(source, call_.size(array.rule->sizes[0]), call_.size(array.rule->sizes[1]),
                  Bytes(array.type), place);
      } else if (array.bytes > 0) {
        std::memcpy(place, source, array.bytes);
      }
    }
    for (const Placed& result : results_) {
      if (result.rule->from < 0 && result.bytes > 0) std::memset(result.place, 0, result.bytes);
    }
  }

  // The routine's info.
  absl::StatusOr<int> Calculate(std::span<const Literal> operands, int64_t m) {
    Load(operands, m);
    if (IsExact()) return CalculateExactly(operands, m);
    ASSAY_RETURN_IF_ERROR(context_.Charge(Cost()));
    if (routine_.finite != 0 && !IsFinite(0)) {
      for (const Placed& result : results_) FillWithNan(result);
      return -routine_.finite;
    }
    const int info = routine_.invoke(arguments_);
    if (info < 0) return Refused(info);
    return info;
  }

  bool IsExact() const { return arguments_.routine == nullptr && routine_.exact != nullptr; }

  absl::StatusOr<int> CalculateExactly(std::span<const Literal> operands, int64_t m) {
    bool is_finite = true;
    for (size_t i = 0; i < operands_.size(); ++i)
      is_finite = is_finite && (operands_[i].type == ElementType::kS32 || IsFinite(i));
    if (is_finite) {
      ASSAY_RETURN_IF_ERROR(Climb(operands, m));
      return 0;
    }
    // Decision: lapack-not-finite. Integers are those of a matrix of zeros.
    for (size_t i = 0; i < operands_.size(); ++i) {
      if (operands_[i].type != ElementType::kS32 && operands_[i].bytes > 0)
        std::memset(PlaceOf(i), 0, operands_[i].bytes);
    }
    ASSAY_RETURN_IF_ERROR(CalculateWith(linalg::kRungs[0]).status());
    for (const Placed& result : results_) FillWithNan(result);
    return -routine_.finite;
  }

  // Until two rungs of the ladder give the same bytes (custom/linalg/ladder.h).
  absl::Status Climb(std::span<const Literal> operands, int64_t m) {
    std::vector<std::byte> before;
    for (const int limbs : linalg::kRungs) {
      Load(operands, m);
      ASSAY_ASSIGN_OR_RETURN(const bool is_sure, CalculateWith(limbs));
      std::vector<std::byte> now;
      for (const Placed& result : results_) now.insert(now.end(), result.place, result.place + result.bytes);
      if (is_sure && now == before) break;
      before = std::move(now);
    }
    return absl::OkStatus();
  }

  absl::StatusOr<bool> CalculateWith(int limbs) {
    // Half a dozen complex arrays as large as operands and results, and the rounded results twice.
    int64_t elements = 64, bytes = 0;
    for (const std::vector<Placed>* arrays : {&operands_, &results_}) {
      for (const Placed& array : *arrays) {
        elements += array.elements;
        bytes += array.bytes;
      }
    }
    ASSAY_ASSIGN_OR_RETURN(const Literal scratch,
                           ReserveScratch(context_, 1, 6 * elements * 2 * (8 * limbs + 8) + 2 * bytes));
    Meter meter(context_);
    linalg::Work work(meter);
    ASSAY_ASSIGN_OR_RETURN(const bool is_sure, routine_.exact(arguments_, limbs, work));
    ASSAY_RETURN_IF_ERROR(meter.Flush());
    return is_sure && !work.in_doubt();
  }

  std::byte* PlaceOf(size_t operand) const {
    for (const Placed& result : results_) {
      if (result.rule->from == static_cast<int>(operand)) return result.place;
    }
    return operands_[operand].place;
  }

  // Whether an operand, wherever it lies, has neither NaN nor infinity.
  bool IsFinite(size_t operand) const {
    const std::byte* const data = PlaceOf(operand);
    const int64_t parts = call_.is_complex() ? 2 : 1;
    const bool is_single = call_.type == ElementType::kF32 || call_.type == ElementType::kC64;
    return is_single ? AllFinite<float>(data, parts * operands_[operand].elements)
                     : AllFinite<double>(data, parts * operands_[operand].elements);
  }

  static void FillWithNan(const Placed& result) {
    if (result.type == ElementType::kS32) return;
    const bool is_complex = IsComplex(result.type);
    const ElementType part = is_complex ? ComponentType(result.type) : result.type;
    const double nan = CanonicalNaN(*Info(part).format);
    for (int64_t i = 0; i < result.elements * (is_complex ? 2 : 1); ++i)
      StoreStrip(part, &nan, 1, result.place + i * Bytes(part), Bytes(part));
  }

  void Store(std::span<Literal> results, int64_t m) {
    for (size_t i = 0; i < results_.size(); ++i) {
      const Placed& array = results_[i];
      if (array.bytes == 0) continue;
      std::byte* const target = results[i].MutableBytes().data() + m * array.bytes;
      if (array.rule->sizes.size() == 2) {
        Transpose(array.place, call_.size(array.rule->sizes[1]), call_.size(array.rule->sizes[0]),
                  Bytes(array.type), target);
      } else {
        std::memcpy(target, array.place, array.bytes);
      }
    }
  }

  EvalContext& context_;
  const Routine& routine_;
  const LapackCall& call_;
  const std::string_view name_;
  LapackArguments arguments_;
  std::vector<Placed> operands_, results_;
  Literal scratch_;
};

class LapackKernel final : public CustomKernel {
 public:
  LapackKernel(const Routine& routine, LapackCall call, void* function, std::string name)
      : routine_(routine), call_(call), function_(function), name_(std::move(name)) {}

  absl::StatusOr<Literal> Run(EvalContext& context, std::span<Literal> operands) const override {
    const bool is_tuple = context.result_shape().IsTuple();
    std::vector<Literal> results;
    int64_t elements = 0;
    for (size_t i = 0; i < routine_.results.size(); ++i) {
      ASSAY_ASSIGN_OR_RETURN(
          Literal result, is_tuple ? context.NewResultElement(static_cast<int64_t>(i)) : context.NewResult());
      elements += result.shape().num_elements();
      results.push_back(std::move(result));
    }
    // A batch of matrices without elements may be longer than a loop can last.
    if (elements > 0) {
      Batch batch(context, routine_, call_, function_, name_);
      ASSAY_RETURN_IF_ERROR(batch.Run(operands, results));
    }
    if (!is_tuple) return std::move(results[0]);
    return Literal::Tuple(context.shared_result_shape(), std::move(results));
  }
  std::string_view name() const override { return name_; }

 private:
  const Routine& routine_;
  const LapackCall call_;
  void* const function_;
  const std::string name_;
};

}  // namespace

std::shared_ptr<const CustomKernel> MakeLapackKernel(const Routine& routine, LapackCall call, void* function,
                                                     std::string name) {
  return std::make_shared<LapackKernel>(routine, call, function, std::move(name));
}

}  // namespace assay::custom
