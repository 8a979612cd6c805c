#include "gpu/ptx/writer.h"

#include <bit>

#include "base/error.h"
#include "fmt/format.h"

namespace assay::gpu {
namespace {

constexpr std::string_view kPrefixes[] = {"%p", "%h", "%r", "%d"};
constexpr std::string_view kTypes[] = {".pred", ".b16", ".b32", ".b64"};

}  // namespace

std::string PtxWriter::Text(Register value) {
  return fmt::format("{}{}", kPrefixes[static_cast<size_t>(value.width)], value.number);
}

void PtxWriter::Line(std::string_view line) {
  fmt::format_to(std::back_inserter(*at_), "  {};\n", line);
  if (at_ == &body_) ++body_instructions_;
}

Register PtxWriter::Emit(std::string_view text, Width result, std::initializer_list<Operand> operands) {
  const Register to = New(result);
  std::string line = fmt::format("{} {}", text, Text(to));
  for (const Operand& operand : operands) {
    ASSAY_CHECK(operand.value.known() && operand.value.width == operand.width);
    line += ", ";
    line += Text(operand.value);
  }
  Line(line);
  return to;
}

Register PtxWriter::Constant(Width width, uint64_t pattern) {
  const auto [at, fresh] = constants_.try_emplace(std::pair(width, pattern));
  if (fresh) {
    const InPrologue here(*this);
    at->second = New(width);
    Line(fmt::format("mov{} {}, {:#x}", kTypes[static_cast<size_t>(width)], Text(at->second), pattern));
  }
  return at->second;
}

Register PtxWriter::Constant32(uint32_t pattern) { return Constant(Width::k32, pattern); }
Register PtxWriter::Constant64(uint64_t pattern) { return Constant(Width::k64, pattern); }
Register PtxWriter::Single(float value) { return Constant32(std::bit_cast<uint32_t>(value)); }
Register PtxWriter::Double(double value) { return Constant64(std::bit_cast<uint64_t>(value)); }

Register PtxWriter::False() { return Ne32(Constant32(0), Constant32(0)); }

Register PtxWriter::Read(Special index) {
  constexpr std::string_view kNames[] = {"%tid.x", "%ntid.x", "%ctaid.x", "%nctaid.x"};
  const Register to = New(Width::k32);
  Line(fmt::format("mov.u32 {}, {}", Text(to), kNames[static_cast<size_t>(index)]));
  return to;
}

Register PtxWriter::Argument(int64_t offset) {
  const Register to = New(Width::k64);
  Line(fmt::format("ld.param.b64 {}, [argument+{}]", Text(to), offset));
  return to;
}

Register PtxWriter::Load(std::string_view what, Register address) {
  const Register to = New(what == "b64" ? Width::k64 : Width::k32);
  ASSAY_CHECK(address.width == Width::k64);
  Line(fmt::format("ld.global.{} {}, [{}]", what, Text(to), Text(address)));
  return to;
}

void PtxWriter::Store(std::string_view what, Register address, Register value) {
  ASSAY_CHECK(address.width == Width::k64 && value.width == (what == "b64" ? Width::k64 : Width::k32));
  Line(fmt::format("st.global.{} [{}], {}", what, Text(address), Text(value)));
}

Register PtxWriter::AtomicAdd(Register address, Register count) {
  const Register to = New(Width::k64);
  Line(fmt::format("atom.global.add.u64 {}, [{}], {}", Text(to), Text(address), Text(count)));
  return to;
}

Register PtxWriter::ShuffleXor(Register value, Register partner, Register members) {
  ASSAY_CHECK(value.width == Width::k32 && partner.width == Width::k32 && members.width == Width::k32);
  const Register to = New(Width::k32);
  Line(fmt::format("shfl.sync.bfly.b32 {}, {}, {}, 31, {}", Text(to), Text(value), Text(partner),
                   Text(members)));
  return to;
}

template <typename Word>
Register PtxWriter::TableOf(std::string_view name, std::string_view type, std::span<const Word> words) {
  const auto [at, fresh] = table_addresses_.try_emplace(std::string(name));
  if (fresh) {
    fmt::format_to(std::back_inserter(tables_), ".global .align 8 .{} {}[{}] = {{", type, name, words.size());
    for (size_t i = 0; i < words.size(); ++i)
      fmt::format_to(std::back_inserter(tables_), "{}{:#x}", i == 0 ? "" : ", ", words[i]);
    tables_ += "};\n";
    const InPrologue here(*this);
    at->second = New(Width::k64);
    Line(fmt::format("mov.u64 {}, {}", Text(at->second), name));
  }
  return at->second;
}
Register PtxWriter::Table(std::string_view name, std::span<const uint64_t> words) {
  return TableOf(name, "b64", words);
}
Register PtxWriter::Table(std::string_view name, std::span<const uint32_t> words) {
  return TableOf(name, "b32", words);
}
Register PtxWriter::Table(std::string_view name, std::span<const uint8_t> bytes) {
  return TableOf(name, "b8", bytes);
}

Register PtxWriter::Copy(Register value) {
  const Register to = New(value.width);
  Assign(to, value);
  return to;
}

void PtxWriter::Assign(Register to, Register value) {
  ASSAY_CHECK(to.width == value.width);
  Line(fmt::format("mov{} {}, {}", kTypes[static_cast<size_t>(to.width)], Text(to), Text(value)));
}

void PtxWriter::Place(Label label) { fmt::format_to(std::back_inserter(*at_), "L{}:\n", label.number); }
void PtxWriter::Branch(Label to) { Line(fmt::format("bra L{}", to.number)); }
void PtxWriter::BranchIf(Register predicate, Label to) {
  Line(fmt::format("@{} bra L{}", Text(predicate), to.number));
}
void PtxWriter::BranchUnless(Register predicate, Label to) {
  Line(fmt::format("@!{} bra L{}", Text(predicate), to.number));
}
void PtxWriter::Return() { Line("ret"); }

std::string PtxWriter::Finish(std::string_view name, int64_t argument_bytes) const {
  std::string text = ".version 7.0\n.target sm_80\n.address_size 64\n" + tables_;
  fmt::format_to(std::back_inserter(text), ".visible .entry {}(\n  .param .align 8 .b8 argument[{}]\n)\n{{\n",
                 name, argument_bytes);
  for (size_t w = 0; w < counts_.size(); ++w) {
    if (counts_[w] == 0) continue;
    fmt::format_to(std::back_inserter(text), "  .reg {} {}<{}>;\n", kTypes[w], kPrefixes[w], counts_[w]);
  }
  return text + prologue_ + body_ + "}\n";
}

}  // namespace assay::gpu
