// Runs a program, one thread after the other.
#include <atomic>
#include <cstdio>
#include <cstring>

#include "tests/gpu/emulator/ptx/program.h"

namespace assay::emulated {
namespace {

constexpr int64_t kMaxOps = 50'000'000;  // of one thread, which then will not end
constexpr uint64_t kUnwritten = 0xa5a5a5a5a5a5a5a5;

class Machine {
 public:
  Machine(const Program& program, const Launch& launch, const Memory& memory)
      : program_(program), launch_(launch), memory_(memory), slots_(static_cast<size_t>(program.num_slots)) {}

  std::string Run() {
    const uint32_t threads = launch_.block[0];
    for (int d = 1; d < 3; ++d) {
      if (launch_.grid[d] != 1 || launch_.block[d] != 1)
        return program_.entry + ": a launch of more than one dimension";
    }
    if (threads == 0 || threads > 1024 || launch_.grid[0] == 0)
      return program_.entry + ": a launch of " + std::to_string(launch_.grid[0]) + " blocks of " +
             std::to_string(threads) + " threads";
    for (block_ = 0; block_ < launch_.grid[0]; ++block_) {
      for (thread_ = 0; thread_ < threads; ++thread_) {
        if (!RunThread()) return error_;
      }
    }
    return "";
  }

 private:
  bool RunThread() {
    std::fill(slots_.begin(), slots_.end(), kUnwritten);
    uint64_t* const s = slots_.data();
    int64_t left = kMaxOps;
    for (const Op* op = program_.ops.data();;) {
      if (--left < 0) return Fail(*op, "does not end");
      if (op->guard >= 0 && (s[op->guard] != 0) != op->guard_wants) {
        ++op;
        continue;
      }
      switch (op->kind) {
        case Op::Kind::kCompute:
          op->compute(s, *op);
          break;
        case Op::Kind::kConstant:
          s[op->d] = op->constant;
          break;
        case Op::Kind::kSpecial:
          s[op->d] = Read(op->special);
          break;
        case Op::Kind::kParameter:
          std::memcpy(&s[op->d], launch_.argument + op->constant, 8);
          break;
        case Op::Kind::kLoad:
          if (!Load(*op, s)) return false;
          break;
        case Op::Kind::kStore:
          if (!Reaches(*op, s[op->a])) return false;
          std::memcpy(reinterpret_cast<void*>(s[op->a]), &s[op->b], static_cast<size_t>(op->bytes));
          break;
        case Op::Kind::kAtomicAdd:
          if (!Reaches(*op, s[op->a])) return false;
          s[op->d] = std::atomic_ref(*reinterpret_cast<uint64_t*>(s[op->a])).fetch_add(s[op->b]);
          break;
        case Op::Kind::kBranch:
          op = program_.ops.data() + op->target;
          continue;
        case Op::Kind::kReturn:
          return true;
      }
      ++op;
    }
  }

  uint64_t Read(Op::Special special) const {
    const uint32_t values[] = {thread_, launch_.block[0], block_, launch_.grid[0]};
    return values[static_cast<size_t>(special)];
  }

  bool Load(const Op& op, uint64_t* s) {
    const uint64_t address = s[op.a];
    if (!IsInTable(op, address) && !Reaches(op, address)) return false;
    uint64_t value = 0;
    std::memcpy(&value, reinterpret_cast<const void*>(address), static_cast<size_t>(op.bytes));
    if (op.is_signed) {
      const int shift = 64 - 8 * op.bytes;
      value = static_cast<uint32_t>(static_cast<int64_t>(value << shift) >> shift);
    }
    s[op.d] = value;
    return true;
  }

  bool IsInTable(const Op& op, uint64_t address) const {
    if (address % static_cast<uint64_t>(op.bytes) != 0) return false;
    for (const auto& table : program_.tables) {
      if (table->Contains(address, static_cast<uint64_t>(op.bytes))) return true;
    }
    return false;
  }

  bool Reaches(const Op& op, uint64_t address) {
    const auto bytes = static_cast<uint64_t>(op.bytes);
    if (address % bytes != 0) return FailAt(op, address, "is not aligned");
    return memory_.Contains(address, bytes) || FailAt(op, address, "lies outside of every allocation");
  }

  bool FailAt(const Op& op, uint64_t address, const char* what) {
    char text[96];
    std::snprintf(text, sizeof(text), "an access of %d bytes at 0x%llx %s", op.bytes,
                  static_cast<unsigned long long>(address), what);
    return Fail(op, text);
  }
  bool Fail(const Op& op, const std::string& what) {
    error_ = "kernel " + program_.entry + ", block " + std::to_string(block_) + ", thread " +
             std::to_string(thread_) + ", line " + std::to_string(op.line) + ": " + what;
    return false;
  }

  const Program& program_;
  const Launch& launch_;
  const Memory& memory_;
  std::vector<uint64_t> slots_;
  uint32_t block_ = 0, thread_ = 0;
  std::string error_;
};

class PtxModule final : public Module, public Kernel {
 public:
  explicit PtxModule(Program program) : program_(std::move(program)) {}

  const Kernel* Find(std::string_view name) const override { return name == program_.entry ? this : nullptr; }
  uint32_t argument_bytes() const override { return program_.argument_bytes; }
  std::string Run(const Launch& launch, const Memory& memory) const override {
    return RunProgram(program_, launch, memory);
  }

 private:
  const Program program_;
};

}  // namespace

std::string RunProgram(const Program& program, const Launch& launch, const Memory& memory) {
  return Machine(program, launch, memory).Run();
}

std::unique_ptr<Module> CompilePtx(std::string_view text, std::string* log) {
  Program program;
  std::string reason;
  const bool good = Parse(text, program, reason);
  if (log != nullptr) *log = reason;
  if (!good) return nullptr;
  return std::make_unique<PtxModule>(std::move(program));
}

}  // namespace assay::emulated
