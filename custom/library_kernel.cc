#include "custom/library_kernel.h"

#include <algorithm>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "custom/block_pool.h"
#include "custom/c_values.h"
#include "custom/float_environment.h"
#include "evaluator/eval_context.h"
#include "evaluator/parallel.h"
#include "evaluator/runtime_sizes.h"
#include "fmt/format.h"
#include "hlo/proto/words.h"
#include "shape/checked.h"
#include "shape/index.h"

namespace assay::custom {
namespace {

const Shape& ArrayIn(const Shape& shape) { return shape.IsBuffer() ? shape.element(0) : shape; }

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
  LibraryKernel(const OpInterface& op, const KernelDef& kernel, BoundCall bound,
                std::span<const Shape* const> operands, const Instruction& call)
      : op_(op),
        def_(kernel),
        bound_(std::move(bound)),
        attrs_(bound_.attrs),
        name_(op.name + ": " + kernel.Text()) {
    const Shape& result = *call.shape;
    for (const Shape* const operand : operands) inputs_.push_back(CArray(shapes_.emplace_back(*operand)));
    for (size_t i = 0; i < bound_.output_types.size(); ++i) {
      const Shape& output = result.IsTuple() ? result.element(static_cast<int64_t>(i)) : result;
      outputs_.push_back(CArray(shapes_.emplace_back(output)));
      output_shapes_.push_back(std::make_shared<const Shape>(ArrayIn(output)));
      has_dynamic_ |= HasDynamicDimension(output);
    }
    for (const Shape& shape : shapes_) has_dynamic_ |= HasDynamicDimension(shape);
    for (const AssayArray& input : inputs_) input_types_.push_back(input.type);
    for (const AssayArray& output : outputs_) output_types_.push_back(output.type);
    input_arguments_ = CArguments(op_.inputs, bound_.inputs);
    output_arguments_ = CArguments(op_.outputs, bound_.outputs);
    TakeAliasing(call.attributes, result.IsTuple());
  }
  ~LibraryKernel() override {
    if (instance_ != nullptr) def_.destroy(instance_);
  }

  absl::Status Construct() {
    struct Self {
      const LibraryKernel& kernel;
      absl::Status status;
    } self{*this, absl::OkStatus()};
    AssayConstruction call = {};
    call.size = sizeof(call);
    call.self = &self;
    call.op = {op_.name.data(), op_.name.size()};
    call.num_attrs = attrs_.size(), call.attrs = attrs_.data();
    call.num_input_arguments = input_arguments_.size(), call.input_arguments = input_arguments_.data();
    call.num_output_arguments = output_arguments_.size(), call.output_arguments = output_arguments_.data();
    call.input_types = input_types_.data(), call.output_types = output_types_.data();
    call.fail = [](void* given, int32_t error, AssayText message) {
      Self& of = *static_cast<Self*>(given);
      if (of.status.ok()) of.status = ErrorOf(of.kernel.op_.name, error, message, /*running=*/false);
    };
    const KeptFloatEnvironment kept;
    instance_ = def_.create(def_.user, &call);
    if (self.status.ok() && instance_ == nullptr)
      return InvalidProgram({}, fmt::format("op {}: the kernel was not made, and said no reason", op_.name));
    return self.status;
  }

  absl::StatusOr<Literal> Run(EvalContext& context, std::span<Literal> operands) const override;
  std::string_view name() const override { return name_; }
  CustomTolerance tolerance() const override { return def_.tolerance; }

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

  const OpInterface op_;
  const KernelDef def_;
  const BoundCall bound_;
  const CAttrs attrs_;
  const std::string name_;
  std::deque<Shape> shapes_;
  std::vector<AssayArray> inputs_, outputs_;  // without data
  std::vector<std::shared_ptr<const Shape>> output_shapes_;
  bool has_dynamic_ = false;
  std::vector<AssayType> input_types_, output_types_;
  std::vector<AssayArgument> input_arguments_, output_arguments_;
  std::vector<std::pair<int64_t, int64_t>> aliases_;  // operand, output
  void* instance_ = nullptr;
  mutable BlockPool blocks_;
};

// One run. Its functions are what a kernel calls; an error is kept until the kernel returns.
class KernelRun {
 public:
  KernelRun(const LibraryKernel& kernel, EvalContext& context, std::span<Literal> operands)
      : kernel_(kernel),
        context_(context),
        operands_(operands),
        inputs_(kernel.inputs_.begin(), kernel.inputs_.end()) {
    outputs_.resize(kernel.outputs_.size());
  }
  ~KernelRun() { kernel_.blocks_.GiveBack(blocks_); }
  KernelRun(const KernelRun&) = delete;
  KernelRun& operator=(const KernelRun&) = delete;

  absl::StatusOr<Literal> Run() {
    ASSAY_RETURN_IF_ERROR(TakeInputs());
    AssayCompute call = {};
    call.size = sizeof(call);
    call.self = this;
    call.num_inputs = inputs_.size(), call.inputs = inputs_.data();
    call.num_outputs = outputs_.size(), call.outputs = kernel_.outputs_.data();
    call.num_input_arguments = kernel_.input_arguments_.size();
    call.input_arguments = kernel_.input_arguments_.data();
    call.num_output_arguments = kernel_.output_arguments_.size();
    call.output_arguments = kernel_.output_arguments_.data();
    call.allocate_output = AllocateOutput;
    call.allocate_temp = AllocateTemp;
    call.forward_input = ForwardInput;
    call.set_size = SetSize;
    call.shard = Shard;
    call.call = Call;
    call.fail = [](void* self, int32_t error, AssayText message) {
      auto& of = *static_cast<KernelRun*>(self);
      of.Fail(ErrorOf(of.kernel_.op_.name, error, message, /*running=*/true));
    };
    {
      const KeptFloatEnvironment kept;
      kernel_.def_.compute(kernel_.instance_, &call);
    }
    ASSAY_RETURN_IF_ERROR(status_);
    return Result();
  }

 private:
  struct Output {
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
    Fail(EvalError({}, fmt::format("op {}: {}", kernel_.op_.name, what)));
  }

  static bool IsAligned(const void* data) { return reinterpret_cast<uintptr_t>(data) % kAlignment == 0; }
  // One for each input and output at most.
  std::byte* NewBlock() {
    if (blocks_ == nullptr) blocks_ = kernel_.blocks_.Take(inputs_.size() + outputs_.size());
    return blocks_[used_blocks_++].bytes;
  }

  absl::Status TakeInputs() {
    if (kernel_.has_dynamic_) input_sizes_.reserve(inputs_.size());
    for (size_t i = 0; i < inputs_.size(); ++i) {
      const Literal& operand = operands_[i];
      AssayArray& input = inputs_[i];
      if (input.kind != 0) continue;
      if (kernel_.has_dynamic_ && !operand.IsFullSize()) {
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

  // The elements of an operand with fewer than its bounds, side by side.
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

  // Whether sizes are what the program wants of the output; says what is wrong otherwise.
  bool CheckSizes(size_t output, int64_t rank, const int64_t* sizes) {
    const Shape& shape = *kernel_.output_shapes_[output];
    bool fits = rank == shape.rank();
    for (int64_t d = 0; fits && d < rank; ++d)
      fits = sizes[d] == shape.size(d) || (shape.is_dynamic(d) && sizes[d] >= 0 && sizes[d] <= shape.size(d));
    if (fits) return true;
    FailWith(fmt::format("output {} is allocated with the sizes [{}], the program says {}", output,
                         fmt::join(sizes, sizes + std::max<int64_t>(rank, 0), ","), shape.ToString()));
    return false;
  }

  void* NewOutput(size_t output, int64_t rank, const int64_t* sizes) {
    if (output >= outputs_.size() || kernel_.outputs_[output].kind != 0) {
      FailWith(fmt::format("there is no output {} to allocate", output));
      return nullptr;
    }
    Output& out = outputs_[output];
    if (out.is_there) {
      FailWith(fmt::format("output {} is allocated twice", output));
      return nullptr;
    }
    if (!CheckSizes(output, rank, sizes)) return nullptr;
    out.sizes.assign(sizes, sizes + rank);
    const std::shared_ptr<const Shape>& shape = kernel_.output_shapes_[output];
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
    const std::optional<ElementType> type = proto::ElementTypeFromNumber(code);
    if (!type || rank < 0) {
      of.FailWith(fmt::format("temporary memory of the element type {} and rank {}", code, rank));
      return nullptr;
    }
    int64_t bytes = Bytes(*type);
    for (int64_t d = 0; d < rank && bytes > 0; ++d)
      bytes = sizes[d] < 0 ? -1 : CheckedMul(bytes, sizes[d]).value_or(-1);
    if (bytes < 0) {
      of.FailWith(
          fmt::format("temporary memory of {}[{}], wanted sizes of 0 or more and less than 2^63 bytes",
                      Name(*type), fmt::join(sizes, sizes + rank, ",")));
      return nullptr;
    }
    bytes = std::max<int64_t>(bytes, 2 * kAlignment);  // none that lies in the literal itself
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
    const Shape& shape = *of.kernel_.output_shapes_[output];
    Literal& operand = of.operands_[input];
    if (of.kernel_.has_dynamic_ || !operand.shape().IsArray() || !operand.IsUnique() ||
        !Shape::SameDimensions(operand.shape(), shape) ||
        operand.shape().element_type() != shape.element_type() || !of.IsAliased(input, output))
      return nullptr;
    Output& out = of.outputs_[output];
    out.literal = operand.WithShape(of.kernel_.output_shapes_[output]);
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
    const Shape& shape = *of.kernel_.output_shapes_[output];
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

  absl::Status CallComputation(size_t computation, std::span<const AssayArray> arguments,
                               std::span<AssayArray> results) {
    const std::vector<ComputationId> called = CalledComputations(context_.instruction());
    if (computation >= called.size()) {
      return EvalError({}, fmt::format("op {}: the call has {} called computations, none of number {}",
                                       kernel_.op_.name, called.size(), computation));
    }
    const Computation& callee = context_.module().computation(called[computation]);
    if (callee.parameters.size() != arguments.size()) {
      return EvalError({}, fmt::format("op {}: {} takes {} arguments, got {}", kernel_.op_.name, callee.name,
                                       callee.parameters.size(), arguments.size()));
    }
    std::vector<Literal> values;
    for (size_t k = 0; k < arguments.size(); ++k) {
      const std::shared_ptr<const Shape>& shape = callee.instructions[callee.parameters[k]].shape;
      const AssayArray& given = arguments[k];
      const bool fits =
          shape->IsArray() && given.kind == 0 && given.type == proto::NumberOf(shape->element_type()) &&
          std::ranges::equal(shape->sizes(), std::span(given.sizes, static_cast<size_t>(given.rank)));
      if (!fits) {
        return EvalError({}, fmt::format("op {}: argument {} of {} must be {}", kernel_.op_.name, k,
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
      return EvalError({}, fmt::format("op {}: {} gives {}, {} results are asked for", kernel_.op_.name,
                                       callee.name, root.shape().ToString(), results.size()));
    }
    for (size_t i = 0; i < results.size(); ++i) {
      const Literal& kept = temps_.emplace_back(is_tuple ? root.element(static_cast<int64_t>(i)) : root);
      results[i] = CArray(kept);
    }
    return absl::OkStatus();
  }

  absl::StatusOr<Literal> Result() {
    for (size_t i = 0; i < outputs_.size(); ++i) {
      Output& output = outputs_[i];
      if (kernel_.outputs_[i].kind != 0) {
        output.literal = kernel_.outputs_[i].kind == 1 ? Literal::Token() : Literal();
      } else if (!output.is_there) {
        return EvalError({}, fmt::format("op {}: output {} was not allocated", kernel_.op_.name, i));
      }
      if (output.block != nullptr) {
        const std::span<std::byte> bytes = output.literal.MutableBytes();
        std::copy_n(output.block, bytes.size(), bytes.begin());
      }
      if (kernel_.outputs_[i].kind == 0 && kernel_.output_shapes_[i]->HasDynamic())
        ASSAY_RETURN_IF_ERROR(Spread(i));
    }
    if (!context_.result_shape().IsTuple()) return std::move(outputs_[0].literal);
    std::vector<Literal> elements;
    for (Output& output : outputs_) elements.push_back(std::move(output.literal));
    return Literal::Tuple(context_.shared_result_shape(), std::move(elements));
  }

  // The elements of an output that was allocated with fewer than its bounds, where they lie in an array of the bounds.
  absl::Status Spread(size_t i) {
    Output& output = outputs_[i];
    const std::shared_ptr<const Shape>& shape = kernel_.output_shapes_[i];
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
                                                                      BoundCall bound,
                                                                      std::span<const Shape* const> operands,
                                                                      const Instruction& call) {
  auto made = std::make_shared<LibraryKernel>(op, kernel, std::move(bound), operands, call);
  ASSAY_RETURN_IF_ERROR(made->Construct());
  return made;
}

}  // namespace assay::custom
