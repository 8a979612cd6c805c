#include "tests/gpu/emulator/device/block.h"

#include <link.h>

#include <algorithm>
#include <cstring>

namespace assay::emulated {
namespace {

thread_local GridRun* current = nullptr;

constexpr int kMaxThreads = 1024;

Fibres& ThreadFibres() {
  static thread_local Fibres fibres(kMaxThreads);
  return fibres;
}

// Tables of constants that kernels read lie in the loaded object that holds this code.
struct Image {
  uintptr_t begin = 0, end = 0;
};
Image OwnImage() {
  Image image;
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* data) {
        Image object{UINTPTR_MAX, 0};
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const auto& header = info->dlpi_phdr[i];
          if (header.p_type != PT_LOAD) continue;
          object.begin = std::min<uintptr_t>(object.begin, info->dlpi_addr + header.p_vaddr);
          object.end = std::max<uintptr_t>(object.end, info->dlpi_addr + header.p_vaddr + header.p_memsz);
        }
        const auto here = reinterpret_cast<uintptr_t>(&OwnImage);
        if (here < object.begin || here >= object.end) return 0;
        *static_cast<Image*>(data) = object;
        return 1;
      },
      &image);
  return image;
}
bool IsConstant(uintptr_t address) {
  static const Image image = OwnImage();
  return address >= image.begin && address < image.end;
}

std::string Text(const Index3& index) {
  return "(" + std::to_string(index.x) + ", " + std::to_string(index.y) + ", " + std::to_string(index.z) +
         ")";
}

// What a thread ends with that did something wrong.
struct Failure {};

}  // namespace

GridRun* GridRun::Current() { return current; }

GridRun::GridRun(const KernelBody& kernel, const Launch& launch, const Memory& memory)
    : kernel_(kernel),
      launch_(launch),
      memory_(memory),
      threads_(launch.block[0] * launch.block[1] * launch.block[2]),
      fibres_(ThreadFibres()),
      shared_(launch.shared_bytes + 2 * kRedZone),
      argument_(launch.argument, launch.argument + kernel.argument_bytes) {}

std::string GridRun::Run() {
  if (threads_ == 0 || threads_ > kernel_.most_threads || threads_ % 32 != 0) {
    return std::string(kernel_.name) + ": blocks of " + std::to_string(threads_) +
           " threads, want whole warps and at most " + std::to_string(kernel_.most_threads);
  }
  GridRun* const outer = current;
  current = this;
  const Index3 size = grid_size();
  for (block_.z = 0; block_.z < size.z && problem_.empty(); ++block_.z) {
    for (block_.y = 0; block_.y < size.y && problem_.empty(); ++block_.y) {
      for (block_.x = 0; block_.x < size.x && problem_.empty(); ++block_.x) RunBlock();
    }
  }
  current = outer;
  return problem_;
}

void GridRun::RunBlock() {
  std::memset(shared_.data(), 0xa5, shared_.size());
  shadow_.Reset(launch_.shared_bytes);
  state_.assign(threads_, {});
  warps_.assign(threads_ / 32, {});
  block_epoch_ = 1;
  for (uint32_t i = 0; i < threads_; ++i) fibres_.Start(static_cast<int>(i), &Entry);
  while (problem_.empty()) {
    if (RunReady() || !problem_.empty()) continue;
    const auto in = [this](State state) {
      return std::count_if(state_.begin(), state_.end(), [&](const Thread& t) { return t.state == state; });
    };
    if (in(State::kDone) == threads_) return;
    if (in(State::kBlockBarrier) == threads_) {
      ReleaseBarrier();
      continue;
    }
    problem_ = std::string(kernel_.name) + ", block " + Text(block_) + ": " +
               std::to_string(in(State::kBlockBarrier)) + " threads wait in __syncthreads, " +
               std::to_string(in(State::kWarp)) + " for their warps, and " +
               std::to_string(in(State::kDone)) + " are done";
  }
}

bool GridRun::RunReady() {
  bool ran = false;
  for (running_ = 0; running_ < threads_ && problem_.empty(); ++running_) {
    if (state_[running_].state != State::kReady) continue;
    ran = true;
    fibres_.Resume(static_cast<int>(running_));
  }
  return ran;
}

void GridRun::ReleaseBarrier() {
  ++block_epoch_;
  for (Thread& thread : state_) thread.state = State::kReady;
}

void GridRun::Entry() {
  GridRun& run = *current;
  try {
    run.kernel_.run(run.argument_.data());
    const Thread& thread = run.state_[run.running_];
    if (!thread.open.empty() || !thread.groups.empty())
      run.Fail("ends with asynchronous copies that nobody waited for");
  } catch (const Failure&) {
  }
  run.state_[run.running_].state = State::kDone;
  run.Suspend();
  __builtin_unreachable();
}

void GridRun::Suspend() { fibres_.Suspend(static_cast<int>(running_)); }

Index3 GridRun::thread_index() const {
  const Index3 size = block_size();
  return {running_ % size.x, running_ / size.x % size.y, running_ / size.x / size.y};
}

void GridRun::SyncThreads() {
  state_[running_].state = State::kBlockBarrier;
  Suspend();
}

void GridRun::SyncWarp() {
  // The last lane to come counts for all.
  struct Operation {
    static void Apply(void* const* operands) { ++*static_cast<uint32_t*>(operands[0]); }
  };
  Together(&Operation::Apply, &warps_[running_ / 32].epoch);
}

void GridRun::Together(WarpOperation operation, void* operand) {
  const uint32_t first = running_ / 32 * 32, lane = running_ % 32;
  Warp& warp = warps_[running_ / 32];
  if (warp.arrived != 0 && warp.operation != operation)
    Fail("lanes of a warp are in different operations of it");
  warp.operation = operation;
  warp.operands[lane] = operand;
  if (++warp.arrived < 32) {
    state_[running_].state = State::kWarp;
    Suspend();
    return;
  }
  warp.arrived = 0;
  operation(warp.operands.data());
  for (uint32_t i = first; i < first + 32; ++i) state_[i].state = State::kReady;
}

void GridRun::Touch(uintptr_t address, uint32_t bytes, Access access, uint32_t alignment) {
  const auto shared = reinterpret_cast<uintptr_t>(shared_.data());
  if (address - shared < shared_.size()) {
    if (address % alignment != 0) {
      Fail("access of " + std::to_string(bytes) + " bytes that is not aligned, shared memory offset " +
           std::to_string(address - shared - kRedZone));
    }
    if (address < shared + kRedZone || address + bytes > shared + kRedZone + launch_.shared_bytes) {
      Fail("access of " + std::to_string(bytes) + " bytes outside of shared memory, offset " +
           std::to_string(static_cast<int64_t>(address - shared) - static_cast<int64_t>(kRedZone)) + " of " +
           std::to_string(launch_.shared_bytes));
    }
    TouchShared(static_cast<uint32_t>(address - shared - kRedZone), bytes, access);
    return;
  }
  if (fibres_.IsStack(address)) return;
  const auto argument = reinterpret_cast<uintptr_t>(argument_.data());
  if (access == Access::kRead) {
    if (address >= argument && address + bytes <= argument + argument_.size()) return;
    if (IsConstant(address)) return;
  }
  if (address % alignment != 0) {
    Fail("access of " + std::to_string(bytes) + " bytes at the address " + std::to_string(address) +
         ", which is not aligned");
  }
  if (address / 64 == (address + bytes - 1) / 64 && LineIsKnown(address)) return;
  if (!memory_.Contains(address, bytes)) {
    Fail(std::string(access == Access::kRead ? "read" : "write") + " of " + std::to_string(bytes) +
         " bytes outside of every allocation, at the address " + std::to_string(address));
  }
}

bool GridRun::LineIsKnown(uintptr_t address) {
  const uintptr_t line = address / 64;
  uintptr_t& known = known_lines_[line % known_lines_.size()];
  if (known == line) return true;
  if (!memory_.Contains(line * 64, 64)) return false;
  known = line;
  return true;
}

void GridRun::TouchShared(uint32_t offset, uint32_t bytes, Access access) {
  const std::string race = shadow_.Record(offset, bytes, access, Now());
  if (!race.empty()) Fail(race);
}

void GridRun::CopyAsync(void* shared, const void* global, uint32_t bytes, uint32_t valid_bytes) {
  const auto to = reinterpret_cast<uintptr_t>(shared);
  if (to - reinterpret_cast<uintptr_t>(shared_.data()) >= shared_.size()) {
    Fail("asynchronous copy to memory that is not shared");
  }
  Touch(to, bytes, Access::kWrite, bytes);
  const auto from = reinterpret_cast<uintptr_t>(global);
  // compute-sanitizer's memcheck takes a copy that has any source bytes for a read of all of its bytes.
  if (valid_bytes != 0 && valid_bytes != bytes) {
    Fail("asynchronous copy of " + std::to_string(bytes) + " bytes with " + std::to_string(valid_bytes) +
         " source bytes");
  }
  if (valid_bytes != 0 && from % bytes != 0) Fail("asynchronous copy from an address that is not aligned");
  if (valid_bytes != 0) Touch(from, valid_bytes, Access::kRead, 1);
  std::memset(shared, 0x5a, bytes);
  state_[running_].open.push_back(
      {static_cast<unsigned char*>(shared), static_cast<const unsigned char*>(global), bytes, valid_bytes});
}

void GridRun::CommitCopies() {
  Thread& thread = state_[running_];
  thread.groups.push_back(std::move(thread.open));
  thread.open.clear();
}

// Copies come as late as they may.
void GridRun::WaitCopies(uint32_t groups_left) {
  auto& groups = state_[running_].groups;
  while (groups.size() > groups_left) {
    Finish(groups.front());
    groups.pop_front();
  }
}

void GridRun::Finish(const std::vector<Copy>& copies) {
  for (const Copy& copy : copies) {
    Touch(reinterpret_cast<uintptr_t>(copy.shared), copy.bytes, Access::kWrite, copy.bytes);
    std::memset(copy.shared, 0, copy.bytes);
    std::memcpy(copy.shared, copy.global, copy.valid_bytes);
  }
}

void GridRun::Fail(const std::string& problem) {
  problem_ = std::string(kernel_.name) + ", block " + Text(block_) + ", thread " + std::to_string(running_) +
             ": " + problem;
  throw Failure{};
}

}  // namespace assay::emulated
