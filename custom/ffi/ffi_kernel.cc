#include "custom/ffi/ffi_kernel.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "base/parallel.h"
#include "custom/ffi/future.h"
#include "evaluator/device.h"
#include "evaluator/eval_context.h"
#include "fmt/format.h"
#include "literal/leaves.h"

namespace assay::custom::ffi {
namespace {

constexpr std::chrono::milliseconds kBetweenPolls(5);

absl::StatusOr<std::unique_ptr<const CallAttributes>> AttributesOf(const Instruction& call) {
  if (call.extras == nullptr) return CallAttributes::Make({});
  ASSAY_ASSIGN_OR_RETURN(const ConfigDictionary config,
                         ParseConfigDictionary(call.extras->backend_config.text));
  return CallAttributes::Make(config);
}

absl::Status CheckLeaf(const Shape& shape) {
  if (shape.IsToken()) return absl::OkStatus();
  if (!shape.IsArray())
    return NotSupported({}, fmt::format("ffi: {}, want arrays and tokens", shape.ToString()));
  if (shape.HasDynamic())
    return NotSupported({}, fmt::format("ffi: {}, want arrays of one size", shape.ToString()));
  if (!DataTypeOf(shape.element_type())) {
    return NotSupported({}, fmt::format("ffi: {}: XLA's FFI has no number for {}", shape.ToString(),
                                        Name(shape.element_type())));
  }
  return MemoryForm::Of(shape, shape.layout()).status();
}

absl::Status CheckLeaves(const Shape& shape) {
  for (const Shape* const leaf : LeafShapes(shape)) ASSAY_RETURN_IF_ERROR(CheckLeaf(*leaf));
  return absl::OkStatus();
}

int CountLeaves(const Shape& shape) { return static_cast<int>(LeafShapes(shape).size()); }

// The number of the first leaf at `index` among those of the shape, which Verify saw to have it.
int FirstLeaf(const Shape& shape, std::span<const int64_t> index) {
  int before = 0;
  const Shape* at = &shape;
  for (const int64_t element : index) {
    for (int64_t i = 0; i < element; ++i) before += CountLeaves(at->element(i));
    at = &at->element(element);
  }
  return before;
}

// Whether a handler may be given these bytes themselves. An empty array has none, and an address
// nevertheless.
bool IsAligned(const void* data) {
  return data != nullptr && reinterpret_cast<uintptr_t>(data) % kAlignment == 0;
}

// What waits for the future: until it was told, or `poll` has a reason to wait no longer.
template <typename Poll>
absl::Status Wait(abi::Future& future, Poll poll) {
  while (!future.WaitFor(kBetweenPolls)) ASSAY_RETURN_IF_ERROR(poll());
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckCall(const Instruction& call, std::span<const Shape* const> operands, const Shape& result) {
  constexpr std::string_view kTyped = "API_VERSION_TYPED_FFI";
  const std::string_view version = call.attributes.Text(Attr::kApiVersion);
  if (version != kTyped) {
    return NotSupported(
        {}, fmt::format("ffi: target '{}' is one of XLA's FFI, the call has api_version {}, want {}",
                        call.attributes.Text(Attr::kCustomCallTarget), version.empty() ? "none" : version,
                        kTyped));
  }
  ASSAY_RETURN_IF_ERROR(AttributesOf(call).status());
  for (const Shape* operand : operands) ASSAY_RETURN_IF_ERROR(CheckLeaves(*operand));
  return CheckLeaves(result);
}

// One run: its buffers and frame, and what of the run the functions of the interface see. It outlives the run
// where a handler goes on after the run gave up waiting for it.
class FfiKernel::Call {
 public:
  Call(std::shared_ptr<const FfiKernel> kernel, EvalContext& eval)
      : kernel_(std::move(kernel)), run_(eval.run().budget(), eval.parallel().jobs()) {
    run_.run_id = static_cast<int64_t>(eval.options().run_seed);
    run_.device = static_cast<int32_t>(eval.device().id());
    context_.user_data = kernel_->user_data_.get();
    context_.run = &run_;
    context_.states[0] = kernel_->state_.get();
  }
  ~Call() { kernel_->blocks_.GiveBack(blocks_); }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  absl::Status Bind(EvalContext& eval, std::span<Literal> operands);
  absl::Status RunStage(abi::Stage stage, EvalContext& eval, const std::shared_ptr<Call>& self);
  absl::StatusOr<Literal> TakeResult(EvalContext& eval);

 private:
  // Where a leaf's memory is not that of its literal: small ones aren't aligned, others lie otherwise.
  absl::StatusOr<std::byte*> Room(EvalContext& eval, size_t leaf, int64_t bytes);
  std::byte* BlockOf(size_t leaf);
  absl::Status BindOperand(EvalContext& eval, size_t i);
  absl::Status BindResult(EvalContext& eval, size_t i);
  void MakeFrame();

  const std::shared_ptr<const FfiKernel> kernel_;
  RunPart run_;
  abi::ExecutionContext context_;
  std::array<std::unique_ptr<const State>, abi::kNumStages> states_;  // of prepare and initialize
  abi::CallFrame frame_ = {};
  // Of operands and then results.
  std::vector<Literal> literals_;
  absl::InlinedVector<abi::Buffer, 4> buffers_;
  absl::InlinedVector<void*, 4> pointers_;
  Block* blocks_ = nullptr;
  absl::InlinedVector<Literal, 2> rooms_;
};

absl::StatusOr<std::byte*> FfiKernel::Call::Room(EvalContext& eval, size_t leaf, int64_t bytes) {
  if (bytes <= static_cast<int64_t>(kAlignment)) return BlockOf(leaf);
  ASSAY_ASSIGN_OR_RETURN(
      Literal room,
      eval.NewLiteral(std::make_shared<const Shape>(Shape::ArrayOrDie(ElementType::kU8, {&bytes, 1})),
                      /*zero=*/true));
  rooms_.push_back(std::move(room));
  return rooms_.back().MutableBytes().data();
}

// Zeros, not the last run's bytes.
std::byte* FfiKernel::Call::BlockOf(size_t leaf) {
  if (blocks_ == nullptr) blocks_ = kernel_->blocks_.Take(buffers_.size());
  return std::fill_n(blocks_[leaf].bytes, kAlignment, std::byte{0}) - kAlignment;
}

absl::Status FfiKernel::Call::BindOperand(EvalContext& eval, size_t i) {
  const Leaf& leaf = kernel_->operands_[i];
  void*& data = buffers_[i].data;
  if (!leaf.is_array()) {
    data = BlockOf(i);
    return absl::OkStatus();
  }
  const std::byte* const literal = literals_[i].data();
  if (leaf.form.is_literal() && IsAligned(literal)) {
    data = const_cast<std::byte*>(literal);  // a handler that writes to an operand breaks its contract
    return absl::OkStatus();
  }
  ASSAY_ASSIGN_OR_RETURN(std::byte* const room, Room(eval, i, leaf.form.num_bytes()));
  leaf.form.FromLiteral(literal, room);
  data = room;
  return absl::OkStatus();
}

// Memory that a handler leaves as it is has zeros.
absl::Status FfiKernel::Call::BindResult(EvalContext& eval, size_t i) {
  const size_t at = kernel_->operands_.size() + i;
  const Leaf& leaf = kernel_->results_[i];
  void*& data = buffers_[at].data;
  if (!leaf.is_array()) {
    data = BlockOf(at);
    literals_[at] = Literal::Token();
    return absl::OkStatus();
  }
  const bool is_aliased = leaf.aliased_operand >= 0;
  const auto operand = static_cast<size_t>(leaf.aliased_operand);
  if (is_aliased) {  // the operand's storage, where nobody else has it
    literals_[at] = std::move(literals_[operand]).WithShape(leaf.shape);
    literals_[operand] = Literal();
    ASSAY_RETURN_IF_ERROR(literals_[at].Unshare());
  } else {
    ASSAY_ASSIGN_OR_RETURN(literals_[at], eval.NewLiteral(leaf.shape, /*zero=*/true));
  }
  std::byte* const literal = literals_[at].MutableBytes().data();
  if (leaf.form.is_literal() && IsAligned(literal)) {
    data = literal;
  } else {
    ASSAY_ASSIGN_OR_RETURN(std::byte* const room, Room(eval, at, leaf.form.num_bytes()));
    if (is_aliased) leaf.form.FromLiteral(literal, room);
    data = room;
  }
  if (is_aliased) buffers_[operand].data = data;
  return absl::OkStatus();
}

absl::Status FfiKernel::Call::Bind(EvalContext& eval, std::span<Literal> operands) {
  const size_t num_operands = kernel_->operands_.size(), all = num_operands + kernel_->results_.size();
  literals_.reserve(all);
  for (Literal& operand : operands) AppendLeaves(std::move(operand), literals_);
  literals_.resize(all);
  buffers_.reserve(all);
  for (const Leaf& leaf : kernel_->operands_) buffers_.push_back(leaf.buffer);
  for (const Leaf& leaf : kernel_->results_) buffers_.push_back(leaf.buffer);
  for (abi::Buffer& buffer : buffers_) pointers_.push_back(&buffer);
  // Results first take the operands that they alias.
  for (size_t i = 0; i < kernel_->results_.size(); ++i) ASSAY_RETURN_IF_ERROR(BindResult(eval, i));
  for (size_t i = 0; i < num_operands; ++i) {
    if (buffers_[i].data == nullptr) ASSAY_RETURN_IF_ERROR(BindOperand(eval, i));
  }
  MakeFrame();
  return absl::OkStatus();
}

void FfiKernel::Call::MakeFrame() {
  const auto num_operands = static_cast<int64_t>(kernel_->operands_.size());
  const auto num_results = static_cast<int64_t>(kernel_->results_.size());
  // The interface has no const; what is shared here is not written to.
  frame_.arguments = {sizeof(abi::Arguments), nullptr, num_operands,
                      const_cast<abi::ArgumentKind*>(kernel_->argument_kinds_.data()), pointers_.data()};
  frame_.results = {sizeof(abi::Results), nullptr, num_results,
                    const_cast<abi::ResultKind*>(kernel_->result_kinds_.data()),
                    pointers_.data() + num_operands};
  frame_.attributes = kernel_->attributes_->view();
}

absl::Status FfiKernel::Call::RunStage(abi::Stage stage, EvalContext& eval,
                                       const std::shared_ptr<Call>& self) {
  const FfiHandlers& handlers = *kernel_->handlers_;
  absl::Status status = handlers.Call(stage, frame_, context_);
  if (abi::Future* const future = frame_.future; status.ok() && future != nullptr) {
    status = Wait(*future, [&]() -> absl::Status {
      try {
        eval.parallel().Poll();
      } catch (const LoopEnded& ended) {
        return ended.why;
      }
      return absl::OkStatus();
    });
    if (status.ok() && future->error().code != abi::ErrorCode::kOk)
      status = handlers.ErrorOf(stage, future->error());
    // A handler that goes on keeps this call, and must not end its own threads with it.
    if (!status.ok()) run_.tasks.Finish(/*for_good=*/true);
    future->Release(self);
  }
  if (const std::optional<std::string> thrown = run_.tasks.Finish(); thrown && status.ok()) {
    status = handlers.ErrorOf(stage, {abi::ErrorCode::kInternal,
                                      fmt::format("an exception came out of a scheduled task: {}", *thrown)});
  }
  if (context_.new_state != nullptr) {
    const auto number = static_cast<size_t>(stage);
    states_[number] = std::move(context_.new_state);
    context_.states[number] = states_[number].get();
  }
  return status;
}

absl::StatusOr<Literal> FfiKernel::Call::TakeResult(EvalContext& eval) {
  const size_t num_operands = kernel_->operands_.size();
  for (size_t i = 0; i < kernel_->results_.size(); ++i) {
    const Leaf& leaf = kernel_->results_[i];
    if (!leaf.is_array()) continue;
    const size_t at = num_operands + i;
    const std::span<std::byte> literal = literals_[at].MutableBytes();
    const auto* const data = static_cast<const std::byte*>(buffers_[at].data);
    if (data != literal.data()) leaf.form.ToLiteral(data, literal.data());
    if (leaf.shape->element_type() == ElementType::kPred) {  // any other byte is true, too
      for (std::byte& truth : literal) truth = std::byte{truth != std::byte{0}};
    }
  }
  std::span<Literal> leaves = std::span(literals_).subspan(num_operands);
  return FromLeaves(eval.shared_result_shape(), leaves);
}

absl::Status FfiKernel::AddLeaves(const std::shared_ptr<const Shape>& shape, const Shape* layouts,
                                  std::vector<Leaf>& leaves) {
  if (shape->IsTuple()) {
    for (size_t i = 0; i < shape->elements().size(); ++i) {
      ASSAY_RETURN_IF_ERROR(AddLeaves(std::shared_ptr<const Shape>(shape, &shape->elements()[i]),
                                      &layouts->elements()[i], leaves));
    }
    return absl::OkStatus();
  }
  Leaf& leaf = leaves.emplace_back();
  leaf.shape = shape;
  leaf.buffer.struct_size = sizeof(abi::Buffer);
  leaf.buffer.type = abi::DataType::kToken;
  if (!leaf.is_array()) return absl::OkStatus();
  ASSAY_RETURN_IF_ERROR(CheckLeaf(*shape));
  ASSAY_ASSIGN_OR_RETURN(leaf.form, MemoryForm::Of(*shape, layouts->layout()));
  leaf.buffer.type = *DataTypeOf(shape->element_type());
  leaf.buffer.rank = shape->rank();
  leaf.sizes.assign(shape->sizes().begin(), shape->sizes().end());
  return absl::OkStatus();
}

absl::Status FfiKernel::SetAliases(const Computation& computation, const Instruction& call) {
  const AttrValue* const value = call.attributes.Find(Attr::kOutputToOperandAliasing);
  if (value == nullptr) return absl::OkStatus();
  const auto operand_shape = [&](int64_t i) -> const Shape& {
    return *computation.instructions[static_cast<size_t>(call.operands[static_cast<size_t>(i)])].shape;
  };
  for (const OutputOperandAlias& alias : std::get<Aliasing>(*value)) {
    int operand = 0;
    for (int64_t i = 0; i < alias.operand; ++i) operand += CountLeaves(operand_shape(i));
    operand += FirstLeaf(operand_shape(alias.operand), alias.operand_index);
    const int result = FirstLeaf(*call.shape, alias.output_index);
    const Shape* const aliased = SubshapeOrNull(*call.shape, alias.output_index);
    for (int i = 0; i < CountLeaves(*aliased); ++i) {
      Leaf& leaf = results_[static_cast<size_t>(result) + static_cast<size_t>(i)];
      const bool is_taken = std::any_of(results_.begin(), results_.end(), [&](const Leaf& other) {
        return other.aliased_operand == operand + i;
      });
      if (is_taken || leaf.aliased_operand >= 0)
        return NotSupported({}, "ffi: two results or two operands in one memory");
      leaf.aliased_operand = operand + i;
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<const FfiKernel>> FfiKernel::Make(std::shared_ptr<const FfiHandlers> handlers,
                                                                 std::shared_ptr<const UserData> user_data,
                                                                 const Computation& computation,
                                                                 const Instruction& call) {
  const std::shared_ptr<FfiKernel> kernel(new FfiKernel(std::move(handlers), std::move(user_data)));
  ASSAY_ASSIGN_OR_RETURN(kernel->attributes_, AttributesOf(call));
  const AttrValue* const constraints = call.attributes.Find(Attr::kOperandLayoutConstraints);
  for (size_t i = 0; i < call.operands.size(); ++i) {
    const std::shared_ptr<const Shape>& shape =
        computation.instructions[static_cast<size_t>(call.operands[i])].shape;
    const Shape* const layouts = constraints == nullptr ? shape.get() : &std::get<ShapeList>(*constraints)[i];
    ASSAY_RETURN_IF_ERROR(kernel->AddLeaves(shape, layouts, kernel->operands_));
  }
  ASSAY_RETURN_IF_ERROR(kernel->AddLeaves(call.shape, call.shape.get(), kernel->results_));
  for (std::vector<Leaf>* const leaves : {&kernel->operands_, &kernel->results_}) {
    for (Leaf& leaf : *leaves) leaf.buffer.sizes = leaf.sizes.data();
  }
  ASSAY_RETURN_IF_ERROR(kernel->SetAliases(computation, call));
  kernel->argument_kinds_.assign(kernel->operands_.size(), abi::ArgumentKind::kBuffer);
  kernel->result_kinds_.assign(kernel->results_.size(), abi::ResultKind::kBuffer);
  ASSAY_RETURN_IF_ERROR(WithPosition(kernel->Instantiate(), call.position));
  return kernel;
}

absl::Status FfiKernel::Instantiate() {
  constexpr abi::Stage kStage = abi::Stage::kInstantiate;
  if (!handlers_->Has(kStage)) return absl::OkStatus();
  abi::ExecutionContext context;
  context.user_data = user_data_.get();
  abi::CallFrame frame = {};
  frame.arguments.struct_size = sizeof(abi::Arguments);
  frame.results.struct_size = sizeof(abi::Results);
  frame.attributes = attributes_->view();
  absl::Status status = handlers_->Call(kStage, frame, context);
  if (status.ok() && frame.future != nullptr) {
    status = Wait(*frame.future, [] { return absl::OkStatus(); });
    if (const HandlerError& error = frame.future->error(); error.code != abi::ErrorCode::kOk)
      status = handlers_->ErrorOf(kStage, error);
    frame.future->Release();
  }
  state_ = std::move(context.new_state);
  return status;
}

absl::StatusOr<Literal> FfiKernel::Run(EvalContext& context, std::span<Literal> operands) const {
  const auto call = std::make_shared<Call>(shared_from_this(), context);
  ASSAY_RETURN_IF_ERROR(call->Bind(context, operands));
  for (const abi::Stage stage : {abi::Stage::kPrepare, abi::Stage::kInitialize, abi::Stage::kExecute}) {
    if (handlers_->Has(stage)) ASSAY_RETURN_IF_ERROR(call->RunStage(stage, context, call));
  }
  return call->TakeResult(context);
}

}  // namespace assay::custom::ffi
