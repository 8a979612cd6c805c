#include "gpu/ptx/repair.h"

#include <algorithm>
#include <cstring>

#include "base/hash_map.h"
#include "evaluator/elementwise.h"
#include "evaluator/registry.h"
#include "fmt/format.h"
#include "gpu/ptx/body.h"
#include "literal/element_io.h"
#include "shape/index.h"

namespace assay::gpu {
namespace {

// At most kStrip elements, of each instruction as stored.
class Strip {
 public:
  Strip(const FusionView& step, std::span<const int64_t> positions, GatherElements gather)
      : step_(step), positions_(positions), gather_(gather) {}

  absl::Status Run(std::byte* out) {
    for (int32_t member : step_.members) ASSAY_RETURN_IF_ERROR(AddMember(member));
    const std::vector<std::byte>& root = values_[step_.members.back()];
    std::memcpy(out, root.data(), root.size());
    return absl::OkStatus();
  }

 private:
  using Bytes = std::vector<std::byte>;

  const Instruction& At(int32_t i) const { return step_.computation.instructions[static_cast<size_t>(i)]; }
  ElementType TypeOf(int32_t i) const { return At(i).shape->element_type(); }
  Bytes NewBytes(ElementType type) const {
    return Bytes(positions_.size() * static_cast<size_t>(assay::Bytes(type)));
  }

  // What the map gives at the positions' indices in a shape.
  std::vector<int64_t> Mapped(const Shape& shape, const AffineMap& map) const {
    std::vector<int64_t> at;
    DimVector index(static_cast<size_t>(shape.rank()));
    for (int64_t position : positions_) {
      IndexOfPosition(position, shape.sizes(), std::span<int64_t>(index.data(), index.size()));
      at.push_back(map.base + LinearPosition(index, map.strides));
    }
    return at;
  }

  absl::StatusOr<Bytes> Gather(int32_t i, std::span<const int64_t> at) const {
    const auto found = std::find(step_.operands.begin(), step_.operands.end(), i);
    if (found == step_.operands.end())
      return NotSupported({}, fmt::format("{} is not an operand", At(i).name));
    Bytes bytes = NewBytes(TypeOf(i));
    ASSAY_RETURN_IF_ERROR(gather_(static_cast<size_t>(found - step_.operands.begin()), at, bytes));
    return bytes;
  }

  // At the root's own positions; one element stands at all of them.
  absl::Status Need(int32_t i) {
    if (values_.contains(i)) return absl::OkStatus();
    std::vector<int64_t> at(positions_.begin(), positions_.end());
    if (At(i).shape->num_elements() == 1) std::fill(at.begin(), at.end(), 0);
    ASSAY_ASSIGN_OR_RETURN(values_[i], Gather(i, at));
    return absl::OkStatus();
  }

  absl::Status AddMember(int32_t i) {
    const Instruction& instruction = At(i);
    if (DefinitionOf(instruction.opcode).from_index) return AddIota(i);
    if (const auto source = SourceOf(step_.computation, instruction)) {
      const int32_t from = instruction.operands[0];
      const Shape& operand = *At(from).shape;
      if (operand.num_elements() == 1 || ReadsInPlace(*source, operand, *instruction.shape)) {
        ASSAY_RETURN_IF_ERROR(Need(from));
        Bytes same = values_[from];
        values_[i] = std::move(same);
        return absl::OkStatus();
      }
      ASSAY_ASSIGN_OR_RETURN(values_[i], Gather(from, Mapped(*instruction.shape, *source)));
      return absl::OkStatus();
    }
    return AddOp(i);
  }

  absl::Status AddIota(int32_t i) {
    const Instruction& iota = At(i);
    const ElementType type = TypeOf(i);
    const auto d = static_cast<size_t>(iota.attributes.Int(Attr::kIotaDimension));
    AffineMap counted{.base = 0, .strides = DimVector(static_cast<size_t>(iota.shape->rank()), 0)};
    counted.strides[d] = 1;
    const std::vector<int64_t> counts = Mapped(*iota.shape, counted);
    alignas(64) std::byte strip[kStripBytes];
    if (IsFloat(type)) {
      auto* const reals = reinterpret_cast<double*>(strip);
      std::copy(counts.begin(), counts.end(), reals);
      RoundStripToFormat(reals, static_cast<int64_t>(counts.size()), *Info(type).format);
    } else {
      std::memcpy(strip, counts.data(), counts.size() * sizeof(int64_t));
    }
    return Keep(i, strip);
  }

  absl::Status Keep(int32_t i, const std::byte* strip) {
    Bytes bytes = NewBytes(TypeOf(i));
    StoreStrip(TypeOf(i), strip, static_cast<int64_t>(positions_.size()), bytes.data(),
               assay::Bytes(TypeOf(i)));
    values_[i] = std::move(bytes);
    return absl::OkStatus();
  }

  absl::Status AddOp(int32_t i) {
    const Instruction& instruction = At(i);
    absl::InlinedVector<ElementType, 3> types;
    for (int32_t operand : instruction.operands) {
      ASSAY_RETURN_IF_ERROR(Need(operand));
      types.push_back(TypeOf(operand));
    }
    const StripFor strip_for = DefinitionOf(instruction.opcode).strip;
    if (strip_for == nullptr) return AddBits(i);
    const StripKernel kernel = strip_for(instruction, types, TypeOf(i));
    if (kernel.fn == nullptr && instruction.opcode == Opcode::kBitcastConvert) return AddBits(i);
    if (kernel.fn == nullptr || types.size() > 3)
      return NotSupported({}, fmt::format("{} of {}", Name(instruction.opcode), Name(types[0])));
    alignas(64) std::byte strips[4][kStripBytes];
    const void* in[3] = {};
    const auto n = static_cast<int64_t>(positions_.size());
    for (size_t k = 0; k < types.size(); ++k) {
      LoadStrip(types[k], values_[instruction.operands[k]].data(), assay::Bytes(types[k]), n, strips[k]);
      in[k] = strips[k];
    }
    kernel.fn(kernel.params, n, in, strips[3]);
    return Keep(i, strips[3]);
  }

  // bitcast-convert of one width: the bytes, of integers of less than a byte extended as the type has them.
  absl::Status AddBits(int32_t i) {
    const int32_t from = At(i).operands[0];
    const ElementType type = TypeOf(i);
    if (assay::Bytes(TypeOf(from)) != assay::Bytes(type))
      return NotSupported({}, fmt::format("{} of {}", Name(At(i).opcode), Name(TypeOf(from))));
    Bytes bytes = values_[from];
    if (assay::Bytes(type) == 1) {
      for (std::byte& byte : bytes) {
        const uint64_t pattern =
            WrapUnsigned(std::to_integer<uint64_t>(byte), type == ElementType::kPred ? 8 : Bits(type));
        byte = static_cast<std::byte>(IsSignedIntegral(type)
                                          ? WrapSigned(static_cast<int64_t>(pattern), Bits(type))
                                          : static_cast<int64_t>(pattern));
      }
    }
    values_[i] = std::move(bytes);
    return absl::OkStatus();
  }

  const FusionView& step_;
  const std::span<const int64_t> positions_;
  const GatherElements gather_;
  HashMap<int32_t, Bytes> values_;  // by instruction
};

}  // namespace

absl::StatusOr<std::vector<std::byte>> RepairElements(const FusionView& step,
                                                      std::span<const int64_t> positions,
                                                      GatherElements gather) {
  const auto bytes = static_cast<size_t>(Bytes(step.root().shape->element_type()));
  std::vector<std::byte> out(positions.size() * bytes);
  for (size_t begin = 0; begin < positions.size(); begin += kStrip) {
    const size_t n = std::min<size_t>(kStrip, positions.size() - begin);
    Strip strip(step, positions.subspan(begin, n), gather);
    ASSAY_RETURN_IF_ERROR(strip.Run(out.data() + begin * bytes));
  }
  return out;
}

}  // namespace assay::gpu
