#include "engines/codegen/scalar_code.h"

#include <utility>

#include "engines/codegen/nodes.h"

namespace assay::codegen {
namespace {

// A parameter of a type without code may be there as long as nobody reads it.
InlinedValue ParameterOf(Inliner& inliner, const Shape& shape, int number, std::vector<int>& streams) {
  const bool has_code = shape.IsScalar() && jit::IsKnown(shape.element_type());
  streams.push_back(has_code ? static_cast<int>(inliner.segment.streams.size()) : -1);
  return has_code ? NodeValue(inliner.AddStream(shape.element_type())) : LeafValue(number);
}

// The reference compiles computations of scalars and interprets others, whose applications count as calls
// (steps.h); so there is code for the former alone.
absl::Status CheckScalars(const Module& module, ComputationId id) {
  std::vector<ComputationId> open = {id};
  std::vector<bool> seen(module.computations.size());
  while (!open.empty()) {
    const ComputationId next = open.back();
    open.pop_back();
    if (seen[static_cast<size_t>(next.value)]) continue;
    seen[static_cast<size_t>(next.value)] = true;
    for (const Instruction& instruction : module.computation(next).instructions) {
      if (instruction.shape->IsArray() && !instruction.shape->IsScalar())
        return NotSupported({}, "an array that is not a scalar");
      for (const ComputationId called : CalledComputations(instruction)) open.push_back(called);
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::shared_ptr<ScalarCode>> ScalarCode::Inlined(const Module& module, ComputationId id,
                                                                Isa isa, jit::Segment& made) {
  if (isa == Isa::kBaseline) return NotSupported({}, "no AVX2");
  ASSAY_RETURN_IF_ERROR(CheckScalars(module, id));
  const Computation& computation = module.computation(id);
  auto code = std::make_shared<ScalarCode>();
  Inliner inliner(module, isa);
  std::vector<InlinedValue> arguments;
  for (size_t k = 0; k < computation.parameters.size(); ++k) {
    const Shape& shape = *computation.instructions[static_cast<size_t>(computation.parameters[k])].shape;
    arguments.push_back(ParameterOf(inliner, shape, static_cast<int>(k), code->input_streams_));
  }
  ASSAY_ASSIGN_OR_RETURN(const InlinedValue root, inliner.Inline(id, arguments));
  const bool tuple = root.elements != nullptr;
  for (const InlinedValue& result : tuple ? std::span(*root.elements) : std::span(&root, 1)) {
    if (result.id < 0) return NotSupported({}, "a result that is not a computed scalar");
    jit::Segment& segment = inliner.segment;
    const size_t stream = segment.streams.size();
    segment.streams.push_back({segment.nodes[static_cast<size_t>(result.id)].type, /*repeated=*/true});
    segment.stores.push_back({static_cast<int16_t>(result.id), static_cast<int16_t>(stream)});
    code->output_streams_.push_back(stream);
  }
  inliner.segment.origin = computation.name;
  code->constants_ = std::move(inliner.constants);
  for (int stream : inliner.constant_streams) code->constant_streams_.push_back(static_cast<size_t>(stream));
  made = std::move(inliner.segment);
  return code;
}

absl::Status ScalarCode::Check(const Module& module, ComputationId id, Isa isa) {
  jit::Segment segment;
  return Inlined(module, id, isa, segment).status();
}

absl::StatusOr<std::shared_ptr<const ScalarCode>> ScalarCode::Make(const Module& module, ComputationId id,
                                                                   Isa isa, bool vectors) {
  jit::Segment segment;
  ASSAY_ASSIGN_OR_RETURN(const std::shared_ptr<ScalarCode> code, Inlined(module, id, isa, segment));
  const Isa target = isa;
  ASSAY_ASSIGN_OR_RETURN(code->single_, jit::Steps::Make(segment, target, /*single=*/true));
  if (vectors) {
    ASSAY_ASSIGN_OR_RETURN(code->vectors_, jit::Steps::Make(std::move(segment), target, /*single=*/false));
  }
  return code;
}

ScalarCode::Frame::Frame(const ScalarCode& code, bool vectors)
    : code_(code), frame_(vectors ? code.vectors_ : code.single_) {
  for (size_t i = 0; i < code.constants_.size(); ++i)
    frame_.SetAddress(code.constant_streams_[i], code.constants_[i].bytes);
}

}  // namespace assay::codegen
