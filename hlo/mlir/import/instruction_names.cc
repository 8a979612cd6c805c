// Short names are put together in registers and stored at once: bytes that several stores have written can't
// be loaded together before all of these are done.
#include "hlo/mlir/import/instruction_names.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <string_view>

#include "fmt/format.h"

namespace assay::mlir {
namespace {

__extension__ using Uint128 = unsigned __int128;
using Words = uint64_t __attribute__((vector_size(16)));
static_assert(std::endian::native == std::endian::little);

// "opcode."
struct Prefix {
  std::string text;
  Uint128 start = 0;  // its first bytes, and zeros
};

const Prefix& PrefixOf(Opcode opcode) {
  static const auto* const kPrefixes = [] {
    auto* prefixes = new std::array<Prefix, kNumOpcodes>();
    for (int i = 0; i < kNumOpcodes; ++i) {
      Prefix& prefix = (*prefixes)[static_cast<size_t>(i)];
      prefix.text = fmt::format("{}.", Name(static_cast<Opcode>(i)));
      std::memcpy(&prefix.start, prefix.text.data(), std::min(prefix.text.size(), sizeof(prefix.start)));
    }
    return prefixes;
  }();
  return (*kPrefixes)[static_cast<size_t>(opcode)];
}

}  // namespace

InstructionNames::InstructionNames(uint64_t used) : number_(used) { Write(); }

// The text of number_, however it came about.
void InstructionNames::Write() {
  const fmt::format_int text(number_);
  num_digits_ = text.size();
  if (num_digits_ > sizeof(digits_)) {
    next_ten_ = number_ + 1;
    return;
  }
  digits_ = 0;
  std::memcpy(&digits_, text.data(), num_digits_);
  one_ = uint64_t{1} << (8 * (num_digits_ - 1));
  next_ten_ = number_ / 10 * 10 + 10;
}

void InstructionNames::Next(Opcode opcode, std::string* name) {
  if (++number_ != next_ten_) {
    digits_ += one_;
  } else {
    Write();
  }
  const Prefix& prefix = PrefixOf(opcode);
  const size_t size = prefix.text.size() + num_digits_;
  const bool has_digits = num_digits_ <= sizeof(digits_);
  if (has_digits && size <= sizeof(Uint128)) {
    const Uint128 text = prefix.start | Uint128{digits_} << (8 * prefix.text.size());
    const Words words = {static_cast<uint64_t>(text), static_cast<uint64_t>(text >> 64)};
    name->append(reinterpret_cast<const char*>(&words), size);
    return;
  }
  name->reserve(size);
  name->append(prefix.text);
  if (has_digits) {
    name->append(reinterpret_cast<const char*>(&digits_), num_digits_);
  } else {
    const fmt::format_int digits(number_);
    name->append(digits.data(), digits.size());
  }
}

}  // namespace assay::mlir
