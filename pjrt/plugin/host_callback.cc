#include "pjrt/plugin/host_callback.h"

#include <array>
#include <atomic>
#include <optional>
#include <string>
#include <vector>

#include "custom/attr_config.h"
#include "evaluator/device.h"
#include "evaluator/eval_context.h"
#include "evaluator/op.h"
#include "fmt/format.h"
#include "pjrt/plugin/element_types.h"
#include "pjrt/plugin/sharded_values.h"

namespace assay::pjrt {
namespace {

std::atomic<AssayHostCallback*> host_callback = nullptr;

// The arrays among values, in the host's form: narrow integers are copied without their signs.
class HostArrays {
 public:
  void Add(const Literal& value) {
    const Shape& shape = value.shape();
    if (!shape.IsArray()) return;
    void* data = const_cast<std::byte*>(value.data());
    if (IsSignExtended(shape.element_type())) {
      std::vector<std::byte>& bare = bare_.emplace_back(value.bytes().begin(), value.bytes().end());
      ClearPaddingBits(shape.element_type(), bare);
      data = bare.data();
    }
    Add(shape, data);
  }
  void AddResult(Literal& value) {
    if (value.shape().IsArray()) Add(value.shape(), value.MutableBytes().data());
  }
  const std::vector<AssayHostArray>& arrays() const { return arrays_; }

 private:
  void Add(const Shape& shape, void* data) {
    arrays_.push_back({BufferTypeOf(shape), shape.rank(), shape.sizes().data(), data, shape.num_bytes()});
  }
  std::vector<AssayHostArray> arrays_;
  std::vector<std::vector<std::byte>> bare_;
};

class HostCallbackKernel final : public CustomKernel {
 public:
  struct Mode {
    // The program says that one device calls for all (a maximal sharding): each gets the same results.
    bool once = false;
    // Not empty: one device calls for all of `partitions`, with each one's pieces of the operands.
    // There are no results.
    std::vector<Leaf> operands;
    int64_t partitions = 1;
  };
  HostCallbackKernel(uint64_t number, Mode mode) : number_(number), mode_(std::move(mode)) {}
  std::string_view name() const override { return "host callback"; }

  absl::StatusOr<Literal> Run(EvalContext& context, std::span<Literal> operands) const override {
    const DeviceGrid& grid = context.device().grid();
    if (!mode_.once || !grid.logical || grid.size() == 1) return CallOnce(context, operands);
    std::vector<int64_t> members;
    for (int64_t id = 0; id < grid.size(); ++id) members.push_back(id);
    return context.device().Rendezvous(
        context.instruction(), members, {operands.begin(), operands.end()},
        [&](std::span<std::vector<Literal>> contributions) -> absl::StatusOr<std::vector<Literal>> {
          ASSAY_ASSIGN_OR_RETURN(const Literal result, CallOnce(context, contributions[0]));
          return std::vector<Literal>(contributions.size(), result);
        });
  }

 private:
  absl::StatusOr<Literal> CallOnce(EvalContext& context, std::span<Literal> operands) const {
    if (mode_.operands.empty()) return Call(context, operands);
    Literal result;
    for (int64_t device = 0; device < mode_.partitions; ++device) {
      std::vector<Literal> pieces;
      for (size_t i = 0; i < operands.size(); ++i) {
        ASSAY_ASSIGN_OR_RETURN(Literal piece, PieceOf(mode_.operands[i], operands[i], device));
        pieces.push_back(std::move(piece));
      }
      ASSAY_ASSIGN_OR_RETURN(result, Call(context, pieces));
    }
    return result;
  }

  absl::StatusOr<Literal> Call(EvalContext& context, std::span<Literal> operands) const {
    AssayHostCallback* const callback = host_callback.load(std::memory_order_acquire);
    if (callback == nullptr) return NotSupported({}, "a callback to the host, where nobody serves them");
    HostArrays given, wanted;
    for (const Literal& operand : operands) {
      ASSAY_RETURN_IF_ERROR(operand.Fetch());
      given.Add(operand);
    }
    const std::shared_ptr<const Shape>& shape = context.shared_result_shape();
    std::vector<Literal> results;
    const int64_t count = shape->IsTuple() ? static_cast<int64_t>(shape->elements().size()) : 1;
    for (int64_t i = 0; i < count; ++i) {
      std::shared_ptr<const Shape> part =
          shape->IsTuple() ? std::shared_ptr<const Shape>(shape, &shape->element(i)) : shape;
      ASSAY_ASSIGN_OR_RETURN(Literal result, context.NewLiteral(std::move(part), /*zero=*/true));
      results.push_back(std::move(result));
    }
    for (Literal& result : results) wanted.AddResult(result);
    std::array<char, 4096> error = {};
    const int failed = callback(number_, given.arrays().size(), given.arrays().data(), wanted.arrays().size(),
                                wanted.arrays().data(), error.data(), error.size());
    error.back() = '\0';
    if (failed != 0) return EvalError({}, fmt::format("the host's callback failed: {}", error.data()));
    for (Literal& result : results) {
      if (result.shape().IsArray() && HasPaddingBits(result.shape().element_type()))
        NormalizeBytes(result.shape().element_type(), result.MutableBytes());
    }
    return shape->IsTuple() ? Literal::Tuple(shape, std::move(results)) : std::move(results[0]);
  }

  const uint64_t number_;
  const Mode mode_;
};

// Arrays, tokens, and one level of tuple.
bool IsPlain(const Shape& shape) {
  const auto is_value = [](const Shape& part) {
    return part.IsToken() || (part.IsArray() && !part.HasDynamic());
  };
  if (!shape.IsTuple()) return is_value(shape);
  for (const Shape& element : shape.elements()) {
    if (!is_value(element)) return false;
  }
  return true;
}

bool SaysOnce(const Instruction& call) {
  if (call.extras == nullptr) return false;
  if (call.extras->sharding.find("maximal") != std::string::npos) return true;
  // Shardy's inlined mesh of one device.
  const std::string* const sharding = FrontendAttribute(call, "xla.sdy.sharding");
  return sharding != nullptr && sharding->find("device_ids=[") != std::string::npos;
}

class HostCallbackOp final : public CustomOp {
 public:
  absl::StatusOr<Shape> Infer(const InferContext& context) const override {
    ASSAY_ASSIGN_OR_RETURN(Shape declared, context.Declared());
    if (!IsPlain(declared))
      return InvalidProgram({}, fmt::format("a callback that gives {}", declared.ToString()));
    for (const Shape* operand : context.operands) {
      if (operand->IsTuple() || !IsPlain(*operand))
        return InvalidProgram({}, fmt::format("a callback that takes {}", operand->ToString()));
    }
    return declared;
  }

  absl::StatusOr<std::shared_ptr<const CustomKernel>> Prepare(const Module& module,
                                                              const Computation& computation,
                                                              const Instruction& call,
                                                              KernelRole role) const override {
    static_cast<void>(role);
    ASSAY_ASSIGN_OR_RETURN(const custom::ConfigDictionary config, custom::ReadCallConfig(call));
    const custom::ConfigInt* number = nullptr;
    bool is_partitioned = false;
    for (const custom::ConfigEntry& entry : config) {
      if (entry.first == "number") number = std::get_if<custom::ConfigInt>(&entry.second.value);
      const bool* const flag = std::get_if<bool>(&entry.second.value);
      if (entry.first == "partitioned" && flag != nullptr) is_partitioned = *flag;
    }
    HostCallbackKernel::Mode mode{.once = SaysOnce(call)};
    if (is_partitioned && module.num_partitions > 1 && &computation == &module.entry_computation()) {
      mode.partitions = module.num_partitions;
      ASSAY_ASSIGN_OR_RETURN(mode.operands, OperandLeaves(module, call));
    }
    if (number != nullptr)
      return std::make_shared<const HostCallbackKernel>(static_cast<uint64_t>(number->value),
                                                        std::move(mode));
    return InvalidProgram({}, "a callback without its number");
  }
};

class CallbackOps final : public CustomOps {
 public:
  const CustomOp* Find(std::string_view target) const override {
    return target == kHostCallbackTarget ? &op_ : nullptr;
  }

 private:
  const HostCallbackOp op_{};
};

}  // namespace

const CustomOps& HostCallbackOps() {
  static const CallbackOps& ops = *new CallbackOps();
  return ops;
}

void SetHostCallback(AssayHostCallback* callback) {
  host_callback.store(callback, std::memory_order_release);
}

}  // namespace assay::pjrt
