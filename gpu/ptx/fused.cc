#include "gpu/ptx/fused.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <limits>
#include <optional>

#include "absl/container/flat_hash_map.h"
#include "base/counted.h"
#include "evaluator/registry.h"
#include "evaluator/static_shape.h"
#include "fmt/format.h"
#include "gpu/ptx/elementwise.h"
#include "gpu/ptx/lanes.h"
#include "shape/index.h"

namespace assay::gpu {
namespace {

constexpr int64_t kMaxMembers = 256;
constexpr uint32_t kThreads = 256;
// Blocks a multiprocessor: twice as many as run at once, for those that end early.
constexpr int64_t kBlocks = 16;
constexpr int64_t kFewest = 1000;  // elements of a kernel that makes several at once

enum Offset : int64_t { kElements = 0, kResult = 8, kOpen = 16, kRoom = 24, kOpenCount = 32, kOperands = 40 };
static_assert(sizeof(FusedArgument) == kOperands + 8);

bool FitsIn32(int64_t elements) { return elements <= std::numeric_limits<int32_t>::max(); }

// Elements that a thread makes at a time, so that enough of its reads are under way at once: more of small
// bodies, of which the registers hold several.
constexpr int kMaxAtOnce = 4;
int AtOnceFor(int64_t instructions) { return instructions <= 100 ? kMaxAtOnce : instructions <= 200 ? 2 : 1; }

class Builder {
 public:
  // A loop that makes so many elements at a time, and one for what is left.
  Builder(const FusionView& step, int at_once)
      : step_(step), at_once_(at_once), elements_(writer_), root_shape_(*step.root().shape) {}

  absl::StatusOr<FusedKernel> Run() {
    kernel_.elements = root_shape_.num_elements();
    kernel_.num_operands = step_.operands.size();
    kernel_.at_once = at_once_;
    kernel_.is_read.assign(kernel_.num_operands, false);
    kernel_.reads_in_place.assign(kernel_.num_operands, true);
    if (static_cast<int64_t>(step_.members.size()) > kMaxMembers)
      return NotSupported({}, fmt::format("{}", Counted(step_.members.size(), "instruction")));
    Start();
    if (at_once_ > 1) ASSAY_RETURN_IF_ERROR(AddLoop(at_once_));
    ASSAY_RETURN_IF_ERROR(AddLoop(1));
    writer_.Return();
    kernel_.text = writer_.Finish(FusedKernel::kName, FusedArgument::Bytes(kernel_.num_operands));
    return std::move(kernel_);
  }
  int64_t body_instructions() const { return writer_.body_instructions(); }

 private:
  using Special = PtxWriter::Special;

  const Instruction& At(int32_t i) const { return step_.computation.instructions[static_cast<size_t>(i)]; }

  Register InPrologue(int64_t offset) {
    const auto [at, fresh] = arguments_.try_emplace(offset);
    if (fresh) {
      const PtxWriter::InPrologue here(writer_);
      at->second = writer_.Argument(offset);
    }
    return at->second;
  }

  // ---- the loops ----

  // The first element of the thread is that of its number, the next one as many threads further.
  void Start() {
    {
      const PtxWriter::InPrologue here(writer_);
      const Register threads = writer_.Read(Special::kThreads);
      const Register before = writer_.MulWideU32(writer_.Read(Special::kBlock), threads);
      first_ = writer_.Add64(before, writer_.ExtendU32(writer_.Read(Special::kThread)));
      threads_ = writer_.MulWideU32(writer_.Read(Special::kBlocks), threads);
    }
    next_ = writer_.Copy(first_);
  }

  // As long as there are so many elements for the thread. All are made before one is stored:
  // no load waits for a store.
  absl::Status AddLoop(int count) {
    const Label again = writer_.NewLabel(), done = writer_.NewLabel();
    writer_.Place(again);
    std::vector<Register> indices = {next_};
    while (static_cast<int>(indices.size()) < count)
      indices.push_back(writer_.Add64(indices.back(), threads_));
    writer_.BranchIf(writer_.GeU64(indices.back(), InPrologue(kElements)), done);
    std::vector<std::pair<Element, Register>> results;  // and whether they are open
    for (const Register index : indices) {
      Emitter emitter{writer_, elements_};
      emitter_ = &emitter;
      index_ = index;
      values_.clear();
      for (int32_t member : step_.members) ASSAY_RETURN_IF_ERROR(AddMember(member));
      Element root = *values_[step_.members.back()];
      elements_.Pattern(root);
      results.emplace_back(root, emitter.open);
    }
    for (size_t k = 0; k < indices.size(); ++k) {
      auto& [root, open] = results[k];
      elements_.Store(root, elements_.AddressOf(root.type, InPrologue(kResult), indices[k]));
      if (open.known()) NoteOpen(open, indices[k]);
    }
    writer_.Assign(next_, writer_.Add64(indices.back(), threads_));
    writer_.Branch(again);
    writer_.Place(done);
    return absl::OkStatus();
  }

  void NoteOpen(Register open, Register index) {
    kernel_.may_leave_open = true;
    const Label over = writer_.NewLabel();
    writer_.BranchUnless(open, over);
    const Register place = writer_.AtomicAdd(InPrologue(kOpenCount), writer_.Constant64(1));
    writer_.BranchIf(writer_.GeU64(place, InPrologue(kRoom)), over);
    const Register offset = writer_.Shl64(place, writer_.Constant32(3));
    writer_.Store("b64", writer_.Add64(InPrologue(kOpen), offset), index);
    writer_.Place(over);
  }

  // ---- values ----

  Element* Add(int32_t i, Element element) {
    owned_.push_back(element);
    return values_[i] = &owned_.back();
  }

  absl::Status AddMember(int32_t i) {
    const Instruction& instruction = At(i);
    if (const std::string_view why = WhyNotStatic(*instruction.shape); !why.empty())
      return NotSupported({}, why);
    if (instruction.shape->num_elements() != root_shape_.num_elements())
      return NotSupported(
          {}, fmt::format("{} and the root have different numbers of elements", instruction.name));
    if (DefinitionOf(instruction.opcode).from_index) return AddIota(i);
    if (const auto source = SourceOf(step_.computation, instruction)) return AddMoved(i, *source);
    std::vector<Element*> operands;
    for (int32_t operand : instruction.operands) {
      ASSAY_ASSIGN_OR_RETURN(Element * element, ValueOf(operand));
      operands.push_back(element);
    }
    ASSAY_ASSIGN_OR_RETURN(const Element element, EmitElementwise(*emitter_, instruction, operands));
    Add(i, element);
    return absl::OkStatus();
  }

  // A member's element, or an operand's at the thread's own position;
  // the one element of an operand that has no other.
  absl::StatusOr<Element*> ValueOf(int32_t i) {
    if (const auto found = values_.find(i); found != values_.end()) return found->second;
    const Shape& shape = *At(i).shape;
    if (const std::string_view why = WhyNotStatic(shape); !why.empty()) return NotSupported({}, why);
    const ElementType type = shape.element_type();
    if (IsComplex(type)) return NotSupported({}, fmt::format("element type {}", Name(type)));
    const bool one = shape.num_elements() == 1 && root_shape_.num_elements() != 1;
    if (!one && shape.num_elements() != root_shape_.num_elements())
      return NotSupported({}, fmt::format("{} of {}", Counted(shape.num_elements(), "element"), At(i).name));
    if (const Literal* constant = ConstantOf(At(i)); constant != nullptr && shape.num_elements() == 1)
      return Add(i, Immediate(*constant));
    ASSAY_ASSIGN_OR_RETURN(const int64_t k, OperandOf(i));
    const Register base = InPrologue(kOperands + 8 * k);
    if (!one) return Add(i, elements_.Load(type, elements_.AddressOf(type, base, index_)));
    kernel_.reads_in_place[static_cast<size_t>(k)] = false;
    const auto [at, fresh] = scalars_.try_emplace(i);
    if (fresh) {
      const PtxWriter::InPrologue here(writer_);
      at->second = elements_.Load(type, base);
    }
    return Add(i, at->second);
  }

  absl::StatusOr<int64_t> OperandOf(int32_t i) {
    const auto at = std::find(step_.operands.begin(), step_.operands.end(), i);
    if (at == step_.operands.end()) return NotSupported({}, fmt::format("{} is not an operand", At(i).name));
    const int64_t k = at - step_.operands.begin();
    kernel_.is_read[static_cast<size_t>(k)] = true;
    return k;
  }

  static const Literal* ConstantOf(const Instruction& instruction) {
    return instruction.opcode == Opcode::kConstant ? instruction.literal.get() : nullptr;
  }

  Element Immediate(const Literal& literal) {
    const ElementType type = literal.shape().element_type();
    uint64_t bits = 0;
    std::memcpy(&bits, literal.data(), static_cast<size_t>(Bytes(type)));
    if (type == ElementType::kPred)
      return elements_.OfPattern(type, writer_.Ne32(writer_.Constant32(bits != 0), writer_.Constant32(0)));
    if (WidthOf(type) == Width::k64) return elements_.OfPattern(type, writer_.Constant64(bits));
    // Elements of less than a byte are stored extended to one.
    if (IsSignedIntegral(type) && Bytes(type) < 4) {
      const int shift = 32 - 8 * Bytes(type);
      bits = static_cast<uint32_t>(static_cast<int32_t>(static_cast<uint32_t>(bits) << shift) >> shift);
    }
    return elements_.OfPattern(type, writer_.Constant32(static_cast<uint32_t>(bits)));
  }

  // ---- sources ----

  absl::Status AddMoved(int32_t i, const AffineMap& source) {
    const Instruction& instruction = At(i);
    const int32_t from = instruction.operands[0];
    const Shape& operand = *At(from).shape;
    if (operand.num_elements() == 1 || ReadsInPlace(source, operand, *instruction.shape)) {
      ASSAY_ASSIGN_OR_RETURN(Element * element, ValueOf(from));
      values_[i] = element;
      return absl::OkStatus();
    }
    if (IsComplex(operand.element_type()))
      return NotSupported({}, fmt::format("element type {}", Name(operand.element_type())));
    const bool moves_member =
        std::find(step_.members.begin(), step_.members.end(), from) != step_.members.end();
    if (moves_member) return NotSupported({}, fmt::format("{} of a member", Name(instruction.opcode)));
    ASSAY_ASSIGN_OR_RETURN(const int64_t k, OperandOf(from));
    kernel_.reads_in_place[static_cast<size_t>(k)] = false;
    const ElementType type = operand.element_type();
    const bool narrow = FitsIn32(root_shape_.num_elements()) && FitsIn32(operand.num_elements());
    const Register position = PositionIn(*instruction.shape, source, narrow ? Width::k32 : Width::k64);
    Add(i, elements_.Load(type, elements_.AddressOf(type, InPrologue(kOperands + 8 * k), position)));
    return absl::OkStatus();
  }

  struct Dimension {
    int64_t size, stride;
  };
  // Neighbouring dimensions that the source walks as one are one.
  static std::vector<Dimension> Merged(const Shape& shape, std::span<const int64_t> strides) {
    std::vector<Dimension> dimensions;
    for (int64_t d = 0; d < shape.rank(); ++d) {
      const int64_t size = shape.size(d), stride = strides[static_cast<size_t>(d)];
      if (size == 1) continue;
      if (!dimensions.empty() && dimensions.back().stride == stride * size) {
        dimensions.back() = {dimensions.back().size * size, stride};
      } else {
        dimensions.push_back({size, stride});
      }
    }
    return dimensions;
  }

  // base + the sum of index[d] * strides[d] at the thread's position in the shape. In 32 bits sums may wrap
  // on the way, never in the end.
  Register PositionIn(const Shape& shape, const AffineMap& source, Width width) {
    const std::vector<Dimension> dimensions = Merged(shape, source.strides);
    Words words(writer_, width);
    const auto constant = [&](int64_t value) { return words.Constant(static_cast<uint64_t>(value)); };
    Register position = constant(source.base);
    Register rest = width == Width::k32 ? writer_.Low32(index_) : index_;
    for (size_t d = dimensions.size(); d-- > 0;) {
      const auto [size, stride] = dimensions[d];
      Register index = rest;
      if (d > 0) {
        const Register outer = words.DivU(rest, constant(size));
        if (stride != 0) index = words.Sub(rest, words.Mul(outer, constant(size)));
        rest = outer;
      }
      if (stride != 0)
        position = words.Add(position, stride == 1 ? index : words.Mul(index, constant(stride)));
    }
    return position;
  }

  absl::Status AddIota(int32_t i) {
    const Instruction& instruction = At(i);
    const Shape& shape = *instruction.shape;
    const ElementType type = shape.element_type();
    if (IsComplex(type)) return NotSupported({}, fmt::format("element type {}", Name(type)));
    AffineMap counted{.base = 0, .strides = DimVector(static_cast<size_t>(shape.rank()), 0)};
    counted.strides[static_cast<size_t>(instruction.attributes.Int(Attr::kIotaDimension))] = 1;
    const bool narrow = FitsIn32(root_shape_.num_elements());
    const Register count = PositionIn(shape, counted, narrow ? Width::k32 : Width::k64);
    Element whole = elements_.OfPattern(narrow ? ElementType::kS32 : ElementType::kS64, count);
    Add(i, EmitConvert(*emitter_, type, whole));
    return absl::OkStatus();
  }

  const FusionView& step_;
  const int at_once_;
  PtxWriter writer_;
  Elements elements_;
  const Shape& root_shape_;
  FusedKernel kernel_;
  absl::flat_hash_map<int64_t, Register> arguments_;
  absl::flat_hash_map<int32_t, Element> scalars_;  // by instruction: read in the prologue
  Register first_, threads_, next_;
  std::deque<Element> owned_;
  // Of the element that is being made.
  Emitter* emitter_ = nullptr;
  Register index_;
  absl::flat_hash_map<int32_t, Element*> values_;  // by instruction
};

}  // namespace

std::optional<AffineMap> SourceOf(const Computation& computation, const Instruction& instruction) {
  const OpDef& definition = DefinitionOf(instruction.opcode);
  if (definition.source == nullptr) return std::nullopt;
  const InstructionView view{computation, instruction};
  if (!IsStaticArray(view.operand(0)) || !IsStaticArray(view.result())) return std::nullopt;
  return definition.source(view);
}

bool ReadsInPlace(const AffineMap& source, const Shape& operand, const Shape& result) {
  if (operand.num_elements() != result.num_elements() || source.base != 0) return false;
  const DimVector own = RowMajorStrides(result.sizes());
  for (size_t d = 0; d < own.size(); ++d) {
    if (result.size(static_cast<int64_t>(d)) != 1 && source.strides[d] != own[d]) return false;
  }
  return true;
}

std::vector<std::byte> FusedKernel::Argument(const FusedArgument& common,
                                             std::span<const DeviceAddress> operands) const {
  ASSAY_CHECK(operands.size() == num_operands);
  std::vector<std::byte> bytes(static_cast<size_t>(FusedArgument::Bytes(num_operands)));
  std::memcpy(bytes.data(), &common, kOperands);
  if (!operands.empty()) std::memcpy(bytes.data() + kOperands, operands.data(), operands.size_bytes());
  return bytes;
}

LaunchShape FusedKernel::Shape(int multiprocessors) const {
  const int64_t in_block = int64_t{kThreads} * at_once;
  const int64_t needed = (elements + in_block - 1) / in_block;
  const int64_t blocks = std::clamp<int64_t>(needed, 1, std::max(multiprocessors, 1) * kBlocks);
  return {.blocks = {static_cast<uint32_t>(blocks), 1, 1}, .threads = {kThreads, 1, 1}};
}

absl::StatusOr<FusedKernel> MakeFusedPtx(const FusionView& step, const Capability& capability) {
  if (capability < Capability{8, 0})
    return NotSupported(
        {}, fmt::format("compute capability {}.{}, wanted 8.0", capability.major, capability.minor));
  const Shape& shape = *step.root().shape;
  if (const std::string_view why = WhyNotStatic(shape); !why.empty()) return NotSupported({}, why);
  Builder one(step, 1);
  absl::StatusOr<FusedKernel> kernel = one.Run();
  const int at_once = AtOnceFor(one.body_instructions());
  // A thread has several elements where all threads that run at once have.
  if (!kernel.ok() || at_once == 1 || kernel->elements < kFewest) return kernel;
  return Builder(step, at_once).Run();
}

std::string WhyNoMember(const StepView& step) {
  const auto self = static_cast<int32_t>(&step.instruction - step.computation.instructions.data());
  const FusionView alone{step.module, step.computation, {&self, 1}, step.instruction.operands};
  if (const std::string_view why = WhyNotStatic(*step.instruction.shape); !why.empty())
    return std::string(why);
  const absl::StatusOr<FusedKernel> kernel = Builder(alone, 1).Run();
  return kernel.ok() ? std::string() : std::string(kernel.status().message());
}

}  // namespace assay::gpu
