#include "custom/lapack/lapack_ops.h"

#include <algorithm>
#include <deque>
#include <string_view>
#include <utility>

#include "custom/combined_ops.h"
#include "custom/lapack/lapack_kernel.h"
#include "custom/lapack/library.h"
#include "custom/lapack/perturbed_solve.h"
#include "custom/lapack/routines.h"
#include "evaluator/bounds/rules.h"
#include "fmt/format.h"

namespace assay::custom {
namespace {

constexpr std::string_view kTypeLetters = "sdcz";
constexpr ElementType kTypes[] = {ElementType::kF32, ElementType::kF64, ElementType::kC64,
                                  ElementType::kC128};

// The type that a letter of a routine's name says.
ElementType TypeOfLetter(char letter) { return kTypes[kTypeLetters.find(letter)]; }

// lapack_TNAME_ffi: the routine NAME for the type of the letter T.
class LapackOp final : public CustomOp {
 public:
  LapackOp(const Routine& routine, char letter, bool by_library)
      : routine_(routine),
        by_library_(by_library),
        type_(TypeOfLetter(letter)),
        symbol_(fmt::format("{}{}", letter, routine.name)),
        target_(fmt::format("lapack_{}_ffi", symbol_)) {}

  const std::string& target() const { return target_; }

  absl::StatusOr<Shape> Infer(const InferContext& context) const override {
    ASSAY_ASSIGN_OR_RETURN(const LapackCall call, BindLapackCall(routine_, type_, context));
    return ResultOf(routine_, call, context);
  }

  absl::StatusOr<std::shared_ptr<const CustomKernel>> Prepare(const Module& module,
                                                              const Computation& computation,
                                                              const Instruction& call,
                                                              KernelRole role) const override {
    return PrepareLapack(module, computation, call, routine_, type_, by_library_ ? symbol_ : "", role);
  }

  double Elements(const InstructionView& call) const override { return ElementsOfCall(routine_, call); }
  void Bound(BoundContext& context) const override { BoundOf(routine_, context); }

  static void BoundOf(const Routine& routine, BoundContext& context) {
    routine.bound == nullptr ? bound::NoRule(context) : routine.bound(context);
  }

  // `symbol`: the routine in the library; empty where none is asked.
  static absl::StatusOr<std::shared_ptr<const CustomKernel>> PrepareLapack(
      const Module& module, const Computation& computation, const Instruction& instruction,
      const Routine& routine, ElementType type, std::string_view symbol, KernelRole role) {
    std::vector<const Shape*> operands;
    for (const int32_t operand : instruction.operands)
      operands.push_back(computation.instructions[operand].shape.get());
    const InferContext context{module, instruction, operands, instruction.shape.get(), &computation};
    ASSAY_ASSIGN_OR_RETURN(LapackCall call, BindLapackCall(routine, type, context));
    ASSAY_RETURN_IF_ERROR(CheckFitsIntegers(routine, call, !symbol.empty()));
    if (routine.own != nullptr) return routine.own(call, role);
    if (symbol.empty()) {
      std::string name(routine.name);
      if (routine.exact != nullptr) name = "exact " + name;
      return MakeLapackKernel(routine, call, nullptr, std::move(name));
    }
    ASSAY_ASSIGN_OR_RETURN(void* const function, FindLapackRoutine(symbol));
    return MakeLapackKernel(routine, call, function, fmt::format("lapack {}", symbol));
  }

 private:
  const Routine& routine_;
  const bool by_library_;
  const ElementType type_;
  const std::string symbol_, target_;
};

// A target for all types: that of the first operand chooses the routine.
class TypedOp final : public CustomOp {
 public:
  struct Choice {
    std::string_view target;
    const Routine *of_reals, *of_complex;
    bool by_library;
  };
  explicit TypedOp(const Choice& choice) : choice_(choice) {}

  std::string_view target() const { return choice_.target; }

  absl::StatusOr<Shape> Infer(const InferContext& context) const override {
    const ElementType type = context.num_operands() == 0 ? ElementType::kF64 : TypeOf(context.operand(0));
    ASSAY_ASSIGN_OR_RETURN(const LapackCall call, BindLapackCall(RoutineFor(type), type, context));
    return ResultOf(RoutineFor(type), call, context);
  }

  absl::StatusOr<std::shared_ptr<const CustomKernel>> Prepare(const Module& module,
                                                              const Computation& computation,
                                                              const Instruction& call,
                                                              KernelRole role) const override {
    const ElementType type = TypeOf(*computation.instructions[call.operands[0]].shape);
    const Routine& routine = RoutineFor(type);
    const char letter = kTypeLetters[std::ranges::find(kTypes, type) - std::begin(kTypes)];
    const std::string symbol = choice_.by_library ? fmt::format("{}{}", letter, routine.name) : std::string();
    return LapackOp::PrepareLapack(module, computation, call, routine, type, symbol, role);
  }

  double Elements(const InstructionView& call) const override {
    return ElementsOfCall(RoutineFor(TypeOf(call.operand(0))), call);
  }
  void Bound(BoundContext& context) const override {
    LapackOp::BoundOf(RoutineFor(TypeOf(context.view().operand(0))), context);
  }

 private:
  // f64, which the message then wants, where the operand has none of the types.
  static ElementType TypeOf(const Shape& operand) {
    const bool fits =
        operand.IsArray() && std::ranges::find(kTypes, operand.element_type()) != std::end(kTypes);
    return fits ? operand.element_type() : ElementType::kF64;
  }
  const Routine& RoutineFor(ElementType type) const {
    return IsComplex(type) ? *choice_.of_complex : *choice_.of_reals;
  }

  const Choice choice_;
};

const Routine* DirectRoutine(std::string_view name) {
  return &*std::ranges::find(DirectRoutines(), name, &Routine::name);
}

class LapackTable final : public CustomOps {
 public:
  explicit LapackTable(bool by_library) {
    for (const std::span<const Routine> routines : {DirectRoutines(), SpectralRoutines()}) {
      for (const Routine& routine : routines) {
        for (const char letter : routine.types) ops_.emplace_back(routine, letter, by_library);
      }
    }
    typed_.emplace_back(
        TypedOp::Choice{"tridiagonal_solve_perturbed_ffi", &PerturbedSolve(), &PerturbedSolve(), false});
    // What JAX writes where a platform has no LAPACK; XLA expands them.
    typed_.emplace_back(TypedOp::Choice{"Qr", DirectRoutine("geqrf"), DirectRoutine("geqrf"), by_library});
    typed_.emplace_back(TypedOp::Choice{"ProductOfElementaryHouseholderReflectors", DirectRoutine("orgqr"),
                                        DirectRoutine("ungqr"), by_library});
  }

  const CustomOp* Find(std::string_view target) const override {
    if (!target.starts_with("lapack_")) {
      const auto typed = std::ranges::find(typed_, target, &TypedOp::target);
      return typed == typed_.end() ? nullptr : &*typed;
    }
    const auto found = std::ranges::find(ops_, target, &LapackOp::target);
    return found == ops_.end() ? nullptr : &*found;
  }

  std::vector<std::string> Targets() const {
    std::vector<std::string> targets;
    for (const TypedOp& op : typed_) targets.emplace_back(op.target());
    for (const LapackOp& op : ops_) targets.push_back(op.target());
    std::ranges::sort(targets);
    return targets;
  }

 private:
  std::deque<LapackOp> ops_;
  std::deque<TypedOp> typed_;
};

template <bool kByLibrary>
const std::shared_ptr<const LapackTable>& Table() {
  static const auto* const table =
      new std::shared_ptr<const LapackTable>(std::make_shared<LapackTable>(kByLibrary));
  return *table;
}

}  // namespace

std::shared_ptr<const CustomOps> LapackOps() { return Table<false>(); }

std::shared_ptr<const CustomOps> LibraryLapackOps() { return Table<true>(); }

std::shared_ptr<const CustomOps> WithLibraryLapack(std::shared_ptr<const CustomOps> ops) {
  if (ops == nullptr) return LibraryLapackOps();
  return std::make_shared<const CombinedOps>(std::vector{std::move(ops), LibraryLapackOps()});
}

std::vector<std::string> LapackTargets() { return Table<false>()->Targets(); }

}  // namespace assay::custom
