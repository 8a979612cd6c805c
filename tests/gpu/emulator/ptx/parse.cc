// PTX text, one statement a line. Whatever is not of the subset is an error that names its line.
#include <charconv>
#include <cstring>
#include <map>

#include "tests/gpu/emulator/ptx/program.h"

namespace assay::emulated {
namespace {

constexpr std::string_view kLetters = "phrd";
constexpr std::string_view kTypes[] = {".pred", ".b16", ".b32", ".b64"};

std::string_view Trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

// Takes `token` off the front.
bool Take(std::string_view& text, std::string_view token) {
  if (!text.starts_with(token)) return false;
  text = Trimmed(text.substr(token.size()));
  return true;
}

std::string_view TakeWord(std::string_view& text) {
  size_t n = 0;
  while (n < text.size() && (std::isalnum(static_cast<unsigned char>(text[n])) != 0 || text[n] == '_' ||
                             text[n] == '.' || text[n] == '%'))
    ++n;
  const std::string_view word = text.substr(0, n);
  text = Trimmed(text.substr(n));
  return word;
}

bool ToNumber(std::string_view text, uint64_t& value) {
  const bool hex = text.starts_with("0x");
  if (hex) text.remove_prefix(2);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, hex ? 16 : 10);
  return !text.empty() && error == std::errc() && end == text.data() + text.size();
}
bool TakeNumber(std::string_view& text, uint64_t& value) { return ToNumber(TakeWord(text), value); }

class Parser {
 public:
  Parser(Program& program, std::string& log) : program_(program), log_(log) {}

  bool Run(std::string_view text) {
    while (!text.empty()) {
      const size_t end = std::min(text.find('\n'), text.size());
      ++line_;
      const std::string_view statement = Trimmed(text.substr(0, end));
      text.remove_prefix(std::min(end + 1, text.size()));
      if (!statement.empty() && !Statement(statement)) {
        if (log_.empty()) Fail("not of the subset", statement);
        return false;
      }
    }
    if (state_ != State::kBehind) return Fail("the kernel does not end", "");
    for (Op& op : program_.ops) {
      if (op.kind != Op::Kind::kBranch) continue;
      const auto at = labels_.find(op.target);
      line_ = op.line;
      if (at == labels_.end() || at->second >= static_cast<int32_t>(program_.ops.size()))
        return Fail("no such label", "L" + std::to_string(op.target));
      op.target = at->second;
    }
    if (program_.ops.empty() || program_.ops.back().kind != Op::Kind::kReturn ||
        program_.ops.back().guard >= 0)
      return Fail("the last instruction is not a ret", "");
    return true;
  }

 private:
  enum class State : uint8_t {
    kVersion,
    kTarget,
    kAddressSize,
    kModule,
    kParameter,
    kClose,
    kOpen,
    kBody,
    kBehind
  };

  bool Fail(std::string_view what, std::string_view where) {
    log_ = "line " + std::to_string(line_) + ": " + std::string(what) + ": " + std::string(where);
    return false;
  }

  bool Statement(std::string_view text) {
    switch (state_) {
      case State::kVersion:
        return Take(text, ".version") && text == "7.0" && Next();
      case State::kTarget:
        return Take(text, ".target") && text == "sm_80" && Next();
      case State::kAddressSize:
        return Take(text, ".address_size") && text == "64" && Next();
      case State::kModule:
        return text.starts_with(".global") ? ArrayStatement(text) : Entry(text);
      case State::kParameter:
        return Parameter(text);
      case State::kClose:
        return text == ")" && Next();
      case State::kOpen:
        return text == "{" && Next();
      case State::kBody:
        if (text == "}") return Next();
        if (text.ends_with(':')) return PlaceLabel(text.substr(0, text.size() - 1));
        if (!text.ends_with(';')) return false;
        text.remove_suffix(1);
        return text.starts_with(".reg") ? Registers(text) : Instruction(text);
      case State::kBehind:
        return false;
    }
    return false;
  }
  bool Next() {
    state_ = static_cast<State>(static_cast<int>(state_) + 1);
    return true;
  }

  // .global .align 8 .b64 NAME[N] = {A, B, ...};
  bool ArrayStatement(std::string_view text) {
    if (!Take(text, ".global") || !Take(text, ".align") || !Take(text, "8")) return false;
    const std::string_view type = TakeWord(text);
    const size_t width = type == ".b64" ? 8 : type == ".b32" ? 4 : type == ".b8" ? 1 : 0;
    auto table = std::make_unique<Table>();
    table->name = TakeWord(text);
    uint64_t count = 0;
    if (width == 0 || table->name.empty() || !Take(text, "[") || !TakeNumber(text, count) || count > 1 << 20)
      return false;
    if (!Take(text, "]") || !Take(text, "=") || !Take(text, "{")) return false;
    table->bytes = static_cast<int64_t>(count * width);
    table->memory.resize((count * width + 7) / 8);
    for (uint64_t i = 0; i < count; ++i) {
      uint64_t value = 0;
      if ((i > 0 && !Take(text, ",")) || !TakeNumber(text, value)) return false;
      if (width < 8 && value >> (8 * width) != 0) return false;
      std::memcpy(reinterpret_cast<std::byte*>(table->memory.data()) + i * width, &value, width);
    }
    if (text != "};" || arrays_.contains(table->name)) return false;
    arrays_[table->name] = reinterpret_cast<uint64_t>(table->memory.data());
    program_.tables.push_back(std::move(table));
    return true;
  }

  bool Entry(std::string_view text) {
    if (!Take(text, ".visible") || !Take(text, ".entry")) return false;
    program_.entry = TakeWord(text);
    return !program_.entry.empty() && text == "(" && Next();
  }

  bool Parameter(std::string_view text) {
    uint64_t bytes = 0;
    if (!Take(text, ".param") || !Take(text, ".align") || !Take(text, "8") || !Take(text, ".b8"))
      return false;
    if (!Take(text, "argument") || !Take(text, "[") || !TakeNumber(text, bytes) || text != "]") return false;
    if (bytes == 0 || bytes > 4096) return Fail("bytes of the argument, which has 1 to 4096", text);
    program_.argument_bytes = static_cast<uint32_t>(bytes);
    return Next();
  }

  bool Registers(std::string_view text) {
    if (!Take(text, ".reg")) return false;
    const std::string_view type = TakeWord(text), prefix = TakeWord(text);
    uint64_t count = 0;
    if (!Take(text, "<") || !TakeNumber(text, count) || text != ">" || count > 1 << 20) return false;
    for (size_t k = 0; k < kLetters.size(); ++k) {
      if (type != kTypes[k] || prefix.size() != 2 || prefix[0] != '%' || prefix[1] != kLetters[k]) continue;
      if (counts_[k] != 0 || !program_.ops.empty()) return Fail("registers are declared twice or late", type);
      counts_[k] = count;
      first_[k] = program_.num_slots;
      program_.num_slots += static_cast<int32_t>(count);
      return true;
    }
    return false;
  }

  bool LabelNumber(std::string_view text, int32_t& number) {
    uint64_t value = 0;
    if (!text.starts_with('L') || !ToNumber(text.substr(1), value) || value > 1 << 20) return false;
    number = static_cast<int32_t>(value);
    return true;
  }
  bool PlaceLabel(std::string_view text) {
    int32_t number = 0;
    if (!LabelNumber(text, number)) return false;
    if (!labels_.emplace(number, static_cast<int32_t>(program_.ops.size())).second)
      return Fail("a label that stands twice", text);
    return true;
  }

  // A register of the width that the letter names.
  bool Slot(std::string_view word, char letter, int32_t& slot) {
    const size_t k = kLetters.find(letter);
    uint64_t number = 0;
    if (word.size() < 3 || word[0] != '%' || word[1] != letter || !ToNumber(word.substr(2), number))
      return Fail(std::string("no register %") + letter, word);
    if (number >= counts_[k]) return Fail("a register that is not declared", word);
    slot = first_[k] + static_cast<int32_t>(number);
    return true;
  }
  bool TakeSlot(std::string_view& text, char letter, int32_t& slot) {
    return Slot(TakeWord(text), letter, slot);
  }

  bool Instruction(std::string_view text) {
    Op op;
    op.line = line_;
    if (Take(text, "@")) {
      op.guard_wants = !Take(text, "!");
      if (!TakeSlot(text, 'p', op.guard)) return false;
    }
    const std::string_view mnemonic = TakeWord(text);
    const bool taken = mnemonic.starts_with("ld.param.")    ? LoadArgument(mnemonic, text, op)
                       : mnemonic.starts_with("ld.global.") ? LoadMemory(mnemonic.substr(10), text, op)
                       : mnemonic.starts_with("st.global.") ? StoreMemory(mnemonic.substr(10), text, op)
                       : mnemonic == "atom.global.add.u64"  ? Atomic(text, op)
                       : mnemonic == "shfl.sync.bfly.b32"   ? Shuffle(text, op)
                       : mnemonic == "bra"                  ? Branch(text, op)
                       : mnemonic == "ret"                  ? Return(text, op)
                                                            : Computation(mnemonic, text, op);
    if (!taken) return false;
    program_.ops.push_back(op);
    return true;
  }

  bool LoadArgument(std::string_view mnemonic, std::string_view text, Op& op) {
    op.kind = Op::Kind::kParameter;
    if (mnemonic != "ld.param.b64" || !TakeSlot(text, 'd', op.d) || !Take(text, ",")) return false;
    if (!Take(text, "[") || !Take(text, "argument") || !Take(text, "+") || !TakeNumber(text, op.constant))
      return false;
    if (op.constant % 8 != 0 || op.constant + 8 > program_.argument_bytes)
      return Fail("beyond the argument", text);
    return text == "]";
  }

  bool Access(std::string_view type, Op& op) {
    op.is_signed = type.starts_with('s');
    op.bytes = type == "u8" || type == "s8"     ? 1
               : type == "u16" || type == "s16" ? 2
               : type == "b32"                  ? 4
               : type == "b64"                  ? 8
                                                : 0;
    return op.bytes != 0;
  }
  bool LoadMemory(std::string_view type, std::string_view text, Op& op) {
    op.kind = Op::Kind::kLoad;
    return Access(type, op) && TakeSlot(text, op.bytes == 8 ? 'd' : 'r', op.d) && Take(text, ",") &&
           Take(text, "[") && TakeSlot(text, 'd', op.a) && text == "]";
  }
  bool StoreMemory(std::string_view type, std::string_view text, Op& op) {
    op.kind = Op::Kind::kStore;
    return Access(type, op) && !op.is_signed && Take(text, "[") && TakeSlot(text, 'd', op.a) &&
           Take(text, "]") && Take(text, ",") && TakeSlot(text, op.bytes == 8 ? 'd' : 'r', op.b) &&
           text.empty();
  }
  bool Atomic(std::string_view text, Op& op) {
    op.kind = Op::Kind::kAtomicAdd;
    op.bytes = 8;
    return TakeSlot(text, 'd', op.d) && Take(text, ",") && Take(text, "[") && TakeSlot(text, 'd', op.a) &&
           Take(text, "]") && Take(text, ",") && TakeSlot(text, 'd', op.b) && text.empty();
  }
  // shfl.sync.bfly.b32 RESULT, VALUE, PARTNER, 31, MEMBERS;
  bool Shuffle(std::string_view text, Op& op) {
    op.kind = Op::Kind::kShuffle;
    if (op.guard >= 0) return Fail("a shuffle that not all lanes need reach", text);
    return TakeSlot(text, 'r', op.d) && Take(text, ",") && TakeSlot(text, 'r', op.a) && Take(text, ",") &&
           TakeSlot(text, 'r', op.b) && Take(text, ",") && Take(text, "31") && Take(text, ",") &&
           TakeSlot(text, 'r', op.c) && text.empty();
  }
  bool Branch(std::string_view text, Op& op) {
    op.kind = Op::Kind::kBranch;
    return LabelNumber(text, op.target);
  }
  bool Return(std::string_view text, Op& op) {
    op.kind = Op::Kind::kReturn;
    return text.empty();
  }

  bool Computation(std::string_view mnemonic, std::string_view text, Op& op) {
    if (mnemonic.starts_with("mov.") && text.find(", %r") == std::string_view::npos &&
        text.find(", %d") == std::string_view::npos && text.find(", %p") == std::string_view::npos)
      return Constant(mnemonic, text, op);
    const Operation* const operation = FindOperation(mnemonic);
    if (operation == nullptr) return Fail("an unknown instruction", mnemonic);
    op.compute = operation->compute;
    int32_t* const slots[] = {&op.d, &op.a, &op.b, &op.c};
    for (size_t k = 0; k < operation->signature.size(); ++k) {
      if ((k > 0 && !Take(text, ",")) || !TakeSlot(text, operation->signature[k], *slots[k])) return false;
    }
    return text.empty();
  }

  // mov of a number, of a special register, of an array's address.
  bool Constant(std::string_view mnemonic, std::string_view text, Op& op) {
    const char letter = mnemonic == "mov.b32" || mnemonic == "mov.u32"   ? 'r'
                        : mnemonic == "mov.b64" || mnemonic == "mov.u64" ? 'd'
                                                                         : 0;
    if (letter == 0 || !TakeSlot(text, letter, op.d) || !Take(text, ",")) return false;
    constexpr std::string_view kNames[] = {"%tid.x", "%ntid.x", "%ctaid.x", "%nctaid.x"};
    for (size_t k = 0; k < std::size(kNames); ++k) {
      if (text != kNames[k] || mnemonic != "mov.u32") continue;
      op.kind = Op::Kind::kSpecial;
      op.special = static_cast<Op::Special>(k);
      return true;
    }
    op.kind = Op::Kind::kConstant;
    if (mnemonic == "mov.u64") {
      const auto array = arrays_.find(std::string(text));
      if (array == arrays_.end()) return Fail("no such array", text);
      op.constant = array->second;
      return true;
    }
    return mnemonic.starts_with("mov.b") && ToNumber(text, op.constant) &&
           (letter == 'd' || op.constant >> 32 == 0);
  }

  Program& program_;
  std::string& log_;
  State state_ = State::kVersion;
  int line_ = 0;
  uint64_t counts_[4] = {};
  int32_t first_[4] = {};
  std::map<int32_t, int32_t> labels_;       // by number: the index of the op behind it
  std::map<std::string, uint64_t> arrays_;  // addresses
};

}  // namespace

bool Parse(std::string_view text, Program& program, std::string& log) {
  log.clear();
  return Parser(program, log).Run(text);
}

}  // namespace assay::emulated
