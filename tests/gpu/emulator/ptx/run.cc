// Runs a program, one warp after the other and in it one lane after the other: each up to its end, or to
// where it hands a word to other lanes. There all members of the operation have to come.
#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdio>
#include <cstring>

#include "tests/gpu/emulator/ptx/program.h"

namespace assay::emulated {
namespace {

constexpr int64_t kMaxOps = 50'000'000;  // of one thread, which then will not end
constexpr uint64_t kUnwritten = 0xa5a5a5a5a5a5a5a5;

constexpr uint32_t kLanes = 32;

class Machine {
 public:
  Machine(const Program& program, const Launch& launch, const Memory& memory)
      : program_(program), launch_(launch), memory_(memory) {}

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
      for (uint32_t first = 0; first < threads; first += kLanes) {
        if (!RunWarp(first, std::min(kLanes, threads - first))) return error_;
      }
    }
    return "";
  }

 private:
  struct Lane {
    std::vector<uint64_t> slots;
    const Op* at = nullptr;  // the shuffle at which it waits; null: it has ended
    int64_t left = kMaxOps;
  };

  bool RunWarp(uint32_t first, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) {
      Lane& lane = lanes_[i];
      thread_ = first + i;
      lane.slots.assign(static_cast<size_t>(program_.num_slots), kUnwritten);
      lane.left = kMaxOps;
      if (!RunLane(lane, program_.ops.data())) return false;
    }
    for (;;) {
      uint32_t waiting = 0;
      for (uint32_t i = 0; i < count; ++i) waiting |= lanes_[i].at != nullptr ? uint32_t{1} << i : 0;
      if (waiting == 0) return true;
      if (!ShuffleOne(first, waiting)) return false;
    }
  }

  // The shuffle of the lowest lane that waits: all of its members have to wait at it.
  bool ShuffleOne(uint32_t first, uint32_t waiting) {
    const auto lowest = static_cast<uint32_t>(std::countr_zero(waiting));
    const Op& op = *lanes_[lowest].at;
    const auto members = static_cast<uint32_t>(lanes_[lowest].slots[static_cast<size_t>(op.c)]);
    thread_ = first + lowest;
    if ((members >> lowest & 1) == 0) return Fail(op, "a shuffle whose members are others");
    uint64_t given[kLanes] = {};
    for (uint32_t i = 0; i < kLanes; ++i) {
      if ((members >> i & 1) == 0) continue;
      if ((waiting >> i & 1) == 0 || lanes_[i].at != &op)
        return Fail(op, "a shuffle that lane " + std::to_string(i) + " does not reach");
      if (static_cast<uint32_t>(lanes_[i].slots[static_cast<size_t>(op.c)]) != members)
        return Fail(op, "a shuffle of which lane " + std::to_string(i) + " has other members");
      given[i] = lanes_[i].slots[static_cast<size_t>(op.a)];
    }
    for (uint32_t i = 0; i < kLanes; ++i) {
      if ((members >> i & 1) == 0) continue;
      Lane& lane = lanes_[i];
      thread_ = first + i;
      const uint64_t from = i ^ static_cast<uint32_t>(lane.slots[static_cast<size_t>(op.b)]);
      if (from >= kLanes || (members >> from & 1) == 0)
        return Fail(op, "a shuffle from lane " + std::to_string(from) + ", which is no member");
      lane.slots[static_cast<size_t>(op.d)] = given[from];
    }
    for (uint32_t i = 0; i < kLanes; ++i) {
      thread_ = first + i;
      if ((members >> i & 1) != 0 && !RunLane(lanes_[i], &op + 1)) return false;
    }
    return true;
  }

  // Up to its end or a shuffle.
  bool RunLane(Lane& lane, const Op* op) {
    uint64_t* const s = lane.slots.data();
    for (;;) {
      if (--lane.left < 0) return Fail(*op, "does not end");
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
        case Op::Kind::kShuffle:
          lane.at = op;
          return true;
        case Op::Kind::kReturn:
          lane.at = nullptr;
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
  Lane lanes_[kLanes];
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
