#include "gpu/ptx/reduction_terms.h"

#include <algorithm>
#include <deque>

#include "base/hash_map.h"
#include "fmt/format.h"
#include "gpu/ptx/body.h"
#include "gpu/ptx/elementwise.h"

namespace assay::gpu {

Register LaneShuffle::Xor(PtxWriter& writer, Register value, uint32_t mask) const {
  const Register partner = writer.Constant32(mask);
  switch (value.width) {
    case Width::kPred: {
      const Register word = writer.Choose32(writer.Constant32(1), writer.Constant32(0), value);
      return writer.Ne32(writer.ShuffleXor(word, partner, members), writer.Constant32(0));
    }
    case Width::k64: {
      const Register low = writer.ShuffleXor(writer.Low32(value), partner, members);
      const Register upper = writer.Low32(writer.ShrU64(value, writer.Constant32(32)));
      const Register high = writer.ShuffleXor(upper, partner, members);
      return writer.Or64(writer.ExtendU32(low), writer.Shl64(writer.ExtendU32(high), writer.Constant32(32)));
    }
    default:
      return writer.ShuffleXor(value, partner, members);
  }
}

SumTerms::SumTerms(PtxWriter& writer, Elements& elements)
    : w(writer),
      elements_(elements),
      sum_(w.Copy(w.Double(-0.0))),
      error_(w.Copy(w.Double(0.0))),
      most_(w.Copy(w.Constant32(0))),
      least_(w.Copy(w.Constant32(~uint32_t{0}))) {}

void SumTerms::AddValue(Register value) {
  const Register sum = w.AddF64(sum_, value), mostly = w.SubF64(sum, sum_);
  const Register of_sum = w.SubF64(sum_, w.SubF64(sum, mostly)), of_value = w.SubF64(value, mostly);
  w.Assign(error_, w.AddF64(error_, w.AddF64(of_sum, of_value)));
  w.Assign(sum_, sum);
}

void SumTerms::Add(Element& element, Register open) {
  Register value = elements_.Double(element);
  if (open.known()) value = w.Choose64(w.Double(-0.0), value, open);
  AddValue(value);
  Note(element, open);
}

void SumTerms::Note(Element& element, Register open) {
  const int bits = Bits(element.type);
  Register pattern = elements_.Pattern(element);
  if (bits == 64) {
    if (open.known()) pattern = w.Choose64(w.Double(-0.0), pattern, open);
    const Register high = w.Low32(w.ShrU64(pattern, w.Constant32(32)));
    const Register doubled = w.Add32(high, high);
    const Register finite = w.LtU32(doubled, w.Constant32(0xffe00000));
    w.Assign(most_, w.Choose32(w.MaxU32(most_, doubled), most_, finite));
    const Register has_low = w.Ne32(w.Low32(pattern), w.Constant32(0));
    const Register with_low = w.Or32(doubled, w.Choose32(w.Constant32(1), w.Constant32(0), has_low));
    w.Assign(least_, w.MinU32(least_, w.Sub32(with_low, w.Constant32(1))));
    return;
  }
  Register word = bits == 32 ? pattern : w.Shl32(pattern, w.Constant32(static_cast<uint32_t>(32 - bits)));
  if (open.known()) word = w.Choose32(w.Constant32(uint32_t{1} << 31), word, open);
  w.Assign(most_, w.MaxU32(most_, w.And32(word, w.Constant32(0x7fffffff))));
  w.Assign(least_, w.MinU32(least_, w.Sub32(w.Add32(word, word), w.Constant32(1))));
}

void SumTerms::AddLane(const LaneShuffle& lanes, uint32_t mask) {
  const Register sum = lanes.Xor(w, sum_, mask), error = lanes.Xor(w, error_, mask);
  const Register most = lanes.Xor(w, most_, mask), least = lanes.Xor(w, least_, mask);
  w.Assign(error_, w.AddF64(error_, error));
  AddValue(sum);
  w.Assign(most_, w.MaxU32(most_, most));
  w.Assign(least_, w.MinU32(least_, least));
}

void SumTerms::Store(Register address) {
  w.Store("b64", address, sum_);
  w.Store("b64", w.Add64(address, w.Constant64(8)), error_);
  w.Store("b32", w.Add64(address, w.Constant64(16)), most_);
  w.Store("b32", w.Add64(address, w.Constant64(20)), least_);
}

absl::StatusOr<std::vector<Element>> EmitReducer(PtxWriter& writer, Elements& elements, const Module& module,
                                                 ComputationId reducer, std::vector<Element>& lhs,
                                                 std::vector<Element>& rhs) {
  const Computation& computation = module.computation(reducer);
  Emitter emitter{writer, elements};
  std::deque<Element> owned;
  HashMap<int32_t, Element*> values;
  for (size_t k = 0; k < lhs.size(); ++k) {
    values[computation.parameters[k]] = &lhs[k];
    values[computation.parameters[lhs.size() + k]] = &rhs[k];
  }
  const Instruction& root = computation.root_instruction();
  for (size_t i = 0; i < computation.instructions.size(); ++i) {
    const Instruction& instruction = computation.instructions[i];
    const auto at = static_cast<int32_t>(i);
    if (values.contains(at) || (instruction.opcode == Opcode::kTuple && at == computation.root)) continue;
    if (!instruction.shape->IsScalar())
      return NotSupported({}, fmt::format("{} of the reducer", instruction.name));
    std::vector<Element*> operands;
    for (const int32_t operand : instruction.operands) operands.push_back(values[operand]);
    if (std::find(operands.begin(), operands.end(), nullptr) != operands.end())
      return NotSupported({}, fmt::format("{} of the reducer", instruction.name));
    if (instruction.opcode == Opcode::kConstant) {
      owned.push_back(ImmediateElement(writer, elements, *instruction.literal));
    } else if (instruction.opcode == Opcode::kCopy) {
      owned.push_back(*operands[0]);
    } else {
      ASSAY_ASSIGN_OR_RETURN(Element made, EmitElementwise(emitter, instruction, operands));
      owned.push_back(made);
    }
    values[at] = &owned.back();
  }
  if (emitter.open.known()) return NotSupported({}, "functions in the reducer");
  std::vector<Element> results;
  if (root.opcode == Opcode::kTuple) {
    for (const int32_t operand : root.operands) results.push_back(*values[operand]);
  } else {
    results.push_back(*values[computation.root]);
  }
  return results;
}

}  // namespace assay::gpu
