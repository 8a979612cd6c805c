#include "custom/library_kernel.h"

#include <algorithm>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "base/counted.h"
#include "base/parallel.h"
#include "custom/block_pool.h"
#include "custom/c_values.h"
#include "custom/float_environment.h"
#include "custom/kernel_instance.h"
#include "evaluator/eval_context.h"
#include "evaluator/runtime_sizes.h"
#include "fmt/format.h"
#include "hlo/proto/words.h"
#include "shape/index.h"

namespace assay::custom {
namespace {

// Elements that lie as an array of the bounds lie, of which `sizes` count, moved side by side, or back.
void CopyLive(std::span<const int64_t> sizes, std::span<const int64_t> bounds, int64_t bytes, bool pack,
              const std::byte* from, std::byte* to) {
  const AffineMap maps[] = {{0, RowMajorStrides(bounds)}, {0, RowMajorStrides(sizes)}};
  ForEachRun(sizes, maps, [&](const int64_t* offsets, const int64_t* strides, int64_t length) {
    for (int64_t i = 0; i < length; ++i) {
      const int64_t apart = (offsets[0] + i * strides[0]) * bytes,
                    dense = (offsets[1] + i * strides[1]) * bytes;
      std::copy_n(from + (pack ? apart : dense), bytes, to + (pack ? dense : apart));
    }
  });
}

class LibraryKernel final : public CustomKernel {
 public:
  LibraryKernel(std::unique_ptr<const KernelInstance> made, const Instruction& call)
      : made_(std::move(made)) {
    TakeAliasing(call.attributes, call.shape->IsTuple());
  }

  absl::StatusOr<Literal> Run(EvalContext& context, std::span<Literal> operands) const override;
  std::string_view name() const override { return made_->name(); }
  CustomTolerance tolerance() const override { return made_->def().tolerance; }

 private:
  friend class KernelRun;

  // The pairs of whole arrays in output_to_operand_aliasing.
  void TakeAliasing(const AttributeMap& attributes, bool is_tuple) {
    const AttrValue* const value = attributes.Find(Attr::kOutputToOperandAliasing);
    if (value == nullptr) return;
    for (const auto& alias : std::get<Aliasing>(*value)) {
      if (!alias.operand_index.empty() || alias.output_index.size() != (is_tuple ? 1 : 0)) continue;
      aliases_.emplace_back(alias.operand, is_tuple ? alias.output_index[0] : 0);
    }
  }

  const std::unique_ptr<const KernelInstance> made_;
  std::vector<std::pair<int64_t, int64_t>> aliases_;  // operand, output
  mutable BlockPool blocks_;
};

// One run. Its functions are what a kernel calls; an error is kept until the kernel returns.
class KernelRun {
 public:
  KernelRun(const LibraryKernel& kernel, EvalContext& context, std::span<Literal> operands)
      : kernel_(kernel),
        made_(*kernel.made_),
        context_(context),
        operands_(operands),
        inputs_(made_.inputs().begin(), made_.inputs().end()) {
    outputs_.resize(made_.outputs().size());
  }
  ~KernelRun() { kernel_.blocks_.GiveBack(blocks_); }
  KernelRun(const KernelRun&) = delete;
  KernelRun& operator=(const KernelRun&) = delete;

  absl::StatusOr<Literal> Run() {
    ASSAY_RETURN_IF_ERROR(TakeInputs());
    AssayCompute call = made_.Call();
    call.self = this;
    call.inputs = inputs_.data();
    call.allocate_output = AllocateOutput;
    call.allocate_temp = AllocateTemp;
    call.forward_input = ForwardInput;
    call.set_size = SetSize;
    call.shard = Shard;
    call.call = Call;
    call.fail = [](void* self, int32_t error, AssayText message) {
      auto& of = *static_cast<KernelRun*>(self);
      of.Fail(ErrorOf(of.made_.op().name, error, message, /*running=*/true));
    };
    {
      const KeptFloatEnvironment kept;
      made_.def().compute(made_.instance(), &call);
    }
    ASSAY_RETURN_IF_ERROR(status_);
    return Result();
  }

 private:
  struct Output {
    Output() {}  // clears no room of `sizes`
    Literal literal;
    DimVector sizes;  // of this run
    bool is_there = false;
    std::byte* block = nullptr;  // where the kernel writes it, if not to the literal
  };

  // The same object is the caller's on several threads (Shard).
  void Fail(absl::Status status) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (status_.ok()) status_ = std::move(status);
  }
  void FailWith(std::string_view what) {
    Fail(EvalError({}, fmt::format("op {}: {}", made_.op().name, what)));
  }

  static bool IsAligned(const void* data) { return reinterpret_cast<uintptr_t>(data) % kAlignment == 0; }
  // One for each input and output at most.
  std::byte* NewBlock() {
    if (blocks_ == nullptr) blocks_ = kernel_.blocks_.Take(inputs_.size() + outputs_.size());
    return blocks_[used_blocks_++].bytes;
  }

  absl::Status TakeInputs() {
    if (made_.has_dynamic()) input_sizes_.reserve(inputs_.size());
    for (size_t i = 0; i < inputs_.size(); ++i) {
      const Literal& operand = operands_[i];
      AssayArray& input = inputs_[i];
      if (input.kind != 0) continue;
      if (made_.has_dynamic() && !operand.IsFullSize()) {
        ASSAY_RETURN_IF_ERROR(TakeLive(operand, input));
      } else {
        input.data = const_cast<std::byte*>(operand.data());
      }
      if (input.data != nullptr && IsAligned(input.data)) continue;
      std::byte* copy = nullptr;
      if (input.bytes <= static_cast<int64_t>(kAlignment)) {
        copy = NewBlock();
      } else {
        ASSAY_ASSIGN_OR_RETURN(Literal room, NewArray(ElementType::kU8, {&input.bytes, 1}));
        copy = temps_.emplace_back(std::move(room)).MutableBytes().data();
      }
      std::copy_n(static_cast<const std::byte*>(input.data), input.bytes, copy);
      input.data = copy;
    }
    return absl::OkStatus();
  }

  // KERN-4: the elements of an operand with fewer than its bounds, side by side.
  absl::Status TakeLive(const Literal& operand, AssayArray& input) {
    const DimVector& sizes = input_sizes_.emplace_back(operand.runtime_sizes());
    const ElementType type = operand.shape().element_type();
    ASSAY_ASSIGN_OR_RETURN(Literal live, NewArray(type, sizes));
    CopyLive(sizes, operand.shape().sizes(), Bytes(type), /*pack=*/true, operand.data(),
             live.MutableBytes().data());
    input.sizes = sizes.data();
    input.bytes = static_cast<int64_t>(live.bytes().size());
    input.data = temps_.emplace_back(std::move(live)).MutableBytes().data();
    return absl::OkStatus();
  }

  absl::StatusOr<Literal> NewArray(ElementType type, std::span<const int64_t> sizes) {
    ASSAY_ASSIGN_OR_RETURN(Shape shape, Shape::Array(type, sizes));
    return context_.NewLiteral(std::make_shared<const Shape>(std::move(shape)));
  }

  void* NewOutput(size_t output, int64_t rank, const int64_t* sizes) {
    if (output >= outputs_.size() || made_.outputs()[output].kind != 0) {
      FailWith(fmt::format("there is no output {} to allocate", output));
      return nullptr;
    }
    Output& out = outputs_[output];
    if (out.is_there) {
      FailWith(fmt::format("output {} is allocated twice", output));
      return nullptr;
    }
    if (absl::Status fits = made_.CheckSizes(output, rank, sizes); !fits.ok()) {
      Fail(std::move(fits));
      return nullptr;
    }
    out.sizes.assign(sizes, sizes + rank);
    const std::shared_ptr<const Shape>& shape = made_.output_shapes()[output];
    absl::StatusOr<Literal> made = std::ranges::equal(out.sizes, shape->sizes())
                                       ? context_.NewLiteral(shape, shape->HasDynamic())
                                       : NewArray(shape->element_type(), out.sizes);
    if (!made.ok()) {
      Fail(made.status());
      return nullptr;
    }
    out.literal = *std::move(made);
    out.is_there = true;
    return Pointer(out);
  }

  // Aligned, and never null, also of no bytes.
  void* Pointer(Output& out) {
    const std::span<std::byte> bytes = out.literal.MutableBytes();
    if (bytes.data() != nullptr && IsAligned(bytes.data())) return bytes.data();
    out.block = NewBlock();
    std::copy(bytes.begin(), bytes.end(), out.block);
    return out.block;
  }

  static void* AllocateOutput(void* self, size_t output, int64_t rank, const int64_t* sizes) {
    return static_cast<KernelRun*>(self)->NewOutput(output, rank, sizes);
  }

  static void* AllocateTemp(void* self, AssayType code, int64_t rank, const int64_t* sizes) {
    auto& of = *static_cast<KernelRun*>(self);
    absl::StatusOr<int64_t> wanted = TemporaryBytes(of.made_.op().name, code, rank, sizes);
    if (!wanted.ok()) {
      of.Fail(wanted.status());
      return nullptr;
    }
    const int64_t bytes = std::max<int64_t>(*wanted, 2 * kAlignment);  // none that lies in the literal itself
    absl::StatusOr<Literal> made = of.NewArray(ElementType::kU8, {&bytes, 1});
    if (!made.ok()) {
      of.Fail(made.status());
      return nullptr;
    }
    // At least as many bytes as a literal does not hold in itself.
    return of.temps_.emplace_back(*std::move(made)).MutableBytes().data();
  }

  // Only where the program lets the output have the operand's buffer: output_to_operand_aliasing.
  static void* ForwardInput(void* self, size_t input, size_t output) {
    auto& of = *static_cast<KernelRun*>(self);
    if (input >= of.operands_.size() || output >= of.outputs_.size() || of.outputs_[output].is_there)
      return nullptr;
    const Shape& shape = *of.made_.output_shapes()[output];
    Literal& operand = of.operands_[input];
    if (of.made_.has_dynamic() || !operand.shape().IsArray() || !operand.IsUnique() ||
        !Shape::SameDimensions(operand.shape(), shape) ||
        operand.shape().element_type() != shape.element_type() || !of.IsAliased(input, output))
      return nullptr;
    Output& out = of.outputs_[output];
    out.literal = operand.WithShape(of.made_.output_shapes()[output]);
    operand = Literal();
    out.sizes.assign(shape.sizes().begin(), shape.sizes().end());
    out.is_there = true;
    return of.Pointer(out);
  }

  bool IsAliased(size_t input, size_t output) const {
    return std::ranges::count(kernel_.aliases_,
                              std::pair(static_cast<int64_t>(input), static_cast<int64_t>(output))) > 0;
  }

  static void SetSize(void* self, size_t output, int64_t dimension, int64_t size) {
    auto& of = *static_cast<KernelRun*>(self);
    if (output >= of.outputs_.size() || !of.outputs_[output].is_there)
      return of.FailWith(fmt::format("output {} gets a size before it is allocated", output));
    const Shape& shape = *of.made_.output_shapes()[output];
    Literal& literal = of.outputs_[output].literal;
    const bool is_dynamic = dimension >= 0 && dimension < shape.rank() && shape.is_dynamic(dimension) &&
                            literal.shape().is_dynamic(dimension);
    if (!is_dynamic || size < 0 || size > shape.size(dimension)) {
      return of.FailWith(fmt::format("dimension {} of output {}, {}, can't have the size {} at run time",
                                     dimension, output, shape.ToString(), size));
    }
    literal.set_dynamic_size(dimension, size);
  }

  static void Shard(void* self, int64_t max_parallelism, int64_t total, int64_t cost_per_unit,
                    void (*work)(void* argument, int64_t begin, int64_t end), void* argument) {
    constexpr int64_t kNanosecondsOfRange = 10'000;
    auto& of = *static_cast<KernelRun*>(self);
    if (total <= 0) return;
    const int64_t most = max_parallelism <= 0 ? 1 : max_parallelism;
    const int64_t pays = kNanosecondsOfRange / std::max<int64_t>(cost_per_unit, 1);
    const int64_t grain = std::max({int64_t{1}, pays, (total + most - 1) / most});
    try {
      of.context_.parallel().For(total, grain, [&](int64_t begin, int64_t end) {
        const KeptFloatEnvironment kept;
        work(argument, begin, end);
      });
    } catch (const LoopEnded& ended) {
      of.Fail(ended.why);
    }
  }

  static int32_t Call(void* self, size_t computation, size_t num_arguments, const AssayArray* arguments,
                      size_t num_results, AssayArray* results) {
    auto& of = *static_cast<KernelRun*>(self);
    const absl::Status status =
        of.CallComputation(computation, {arguments, num_arguments}, {results, num_results});
    if (!status.ok()) of.Fail(status);
    return status.ok() ? 0 : 1;
  }

  // CALL-6.
  absl::Status CallComputation(size_t computation, std::span<const AssayArray> arguments,
                               std::span<AssayArray> results) {
    const std::vector<ComputationId> called = CalledComputations(context_.instruction());
    if (computation >= called.size()) {
      return EvalError({}, fmt::format("op {}: the call has {} called computations, none of number {}",
                                       made_.op().name, called.size(), computation));
    }
    const Computation& callee = context_.module().computation(called[computation]);
    if (callee.parameters.size() != arguments.size()) {
      return EvalError({}, fmt::format("op {}: {} takes {}, got {}", made_.op().name, callee.name,
                                       Counted(callee.parameters.size(), "argument"), arguments.size()));
    }
    std::vector<Literal> values;
    for (size_t k = 0; k < arguments.size(); ++k) {
      const std::shared_ptr<const Shape>& shape = callee.instructions[callee.parameters[k]].shape;
      const AssayArray& given = arguments[k];
      const bool fits =
          shape->IsArray() && given.kind == 0 && given.type == proto::NumberOf(shape->element_type()) &&
          std::ranges::equal(shape->sizes(), std::span(given.sizes, static_cast<size_t>(given.rank)));
      if (!fits) {
        return EvalError({}, fmt::format("op {}: argument {} of {} must be {}", made_.op().name, k,
                                         callee.name, shape->ToString()));
      }
      ASSAY_ASSIGN_OR_RETURN(Literal value, context_.NewLiteral(shape));
      const std::span<std::byte> bytes = value.MutableBytes();
      std::copy_n(static_cast<const std::byte*>(given.data), bytes.size(), bytes.data());
      values.push_back(std::move(value));
    }
    ASSAY_ASSIGN_OR_RETURN(const Literal root, context_.Call(called[computation], std::move(values)));
    const bool is_tuple = root.shape().IsTuple();
    if (results.size() != (is_tuple ? static_cast<size_t>(root.tuple_size()) : 1)) {
      return EvalError({}, fmt::format("op {}: {} gives {}, {} results are asked for", made_.op().name,
                                       callee.name, root.shape().ToString(), results.size()));
    }
    for (size_t i = 0; i < results.size(); ++i) {
      const Literal& kept = temps_.emplace_back(is_tuple ? root.element(static_cast<int64_t>(i)) : root);
      results[i] = CArray(kept);
    }
    return absl::OkStatus();
  }

  // KERN-3: each output has been allocated.
  absl::StatusOr<Literal> Result() {
    for (size_t i = 0; i < outputs_.size(); ++i) {
      Output& output = outputs_[i];
      if (made_.outputs()[i].kind != 0) {
        output.literal = made_.outputs()[i].kind == 1 ? Literal::Token() : Literal();
      } else if (!output.is_there) {
        return EvalError({}, fmt::format("op {}: output {} was not allocated", made_.op().name, i));
      }
      if (output.block != nullptr) {
        const std::span<std::byte> bytes = output.literal.MutableBytes();
        std::copy_n(output.block, bytes.size(), bytes.begin());
      }
      if (made_.outputs()[i].kind == 0 && made_.output_shapes()[i]->HasDynamic())
        ASSAY_RETURN_IF_ERROR(Spread(i));
    }
    if (!context_.result_shape().IsTuple()) return std::move(outputs_[0].literal);
    std::vector<Literal> elements;
    for (Output& output : outputs_) elements.push_back(std::move(output.literal));
    return Literal::Tuple(context_.shared_result_shape(), std::move(elements));
  }

  // The elements of an output that was allocated with fewer than its bounds,
  // where they lie in an array of the bounds.
  absl::Status Spread(size_t i) {
    Output& output = outputs_[i];
    const std::shared_ptr<const Shape>& shape = made_.output_shapes()[i];
    if (!std::ranges::equal(output.sizes, shape->sizes())) {
      ASSAY_ASSIGN_OR_RETURN(Literal spread, context_.NewLiteral(shape, /*zero=*/true));
      CopyLive(output.sizes, shape->sizes(), Bytes(shape->element_type()), /*pack=*/false,
               output.literal.data(), spread.MutableBytes().data());
      SetRuntimeSizes(spread, output.sizes);
      output.literal = std::move(spread);
    }
    output.literal.ClearDeadElements();
    return absl::OkStatus();
  }

  const LibraryKernel& kernel_;
  const KernelInstance& made_;
  EvalContext& context_;
  const std::span<Literal> operands_;
  absl::InlinedVector<AssayArray, 4> inputs_;
  absl::InlinedVector<Output, 2> outputs_;
  std::vector<DimVector> input_sizes_;
  std::vector<Literal> temps_;
  Block* blocks_ = nullptr;
  size_t used_blocks_ = 0;
  std::mutex mutex_;
  absl::Status status_;
};

absl::StatusOr<Literal> LibraryKernel::Run(EvalContext& context, std::span<Literal> operands) const {
  return KernelRun(*this, context, operands).Run();
}

}  // namespace

absl::StatusOr<std::shared_ptr<const CustomKernel>> MakeLibraryKernel(const OpInterface& op,
                                                                      const KernelDef& kernel,
                                                                      ResolvedCall bound,
                                                                      std::span<const Shape* const> operands,
                                                                      const Instruction& call) {
  ASSAY_ASSIGN_OR_RETURN(std::unique_ptr<const KernelInstance> made,
                         KernelInstance::Make(op, kernel, std::move(bound), operands, call));
  return std::make_shared<LibraryKernel>(std::move(made), call);
}

}  // namespace assay::custom
