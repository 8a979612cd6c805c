#include "tests/gpu/emulator/device/block.h"

#include <link.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>

namespace assay::emulated {
namespace {

thread_local GridRun* current = nullptr;

constexpr int kMaxThreads = 1024;
constexpr size_t kMostBlocks = 4;  // under way at once

Fibres& ThreadFibres(size_t block) {
  static thread_local std::array<std::unique_ptr<Fibres>, kMostBlocks> fibres;
  if (fibres[block] == nullptr) fibres[block] = std::make_unique<Fibres>(kMaxThreads);
  return *fibres[block];
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
      argument_(launch.argument, launch.argument + kernel.argument_bytes) {}

std::string GridRun::Run() {
  if (threads_ == 0 || threads_ > kernel_.most_threads || threads_ % 32 != 0) {
    return std::string(kernel_.name) + ": blocks of " + std::to_string(threads_) +
           " threads, want whole warps and at most " + std::to_string(kernel_.most_threads);
  }
  GridRun* const outer = current;
  current = this;
  const Index3 size = grid_size();
  std::vector<uint64_t> order(uint64_t{size.x} * size.y * size.z);
  std::iota(order.begin(), order.end(), uint64_t{0});
  std::mt19937_64 random(launch_.order);
  size_t most = 1;
  if (launch_.order != 0) {
    std::shuffle(order.begin(), order.end(), random);
    most = 1 + random() % kMostBlocks;
  }
  std::vector<std::unique_ptr<Block>> spare;
  for (size_t i = 0; i < most; ++i) {
    spare.push_back(std::make_unique<Block>());
    spare.back()->fibres = &ThreadFibres(i);
  }
  for (size_t next = 0; problem_.empty() && (next < order.size() || !blocks_.empty());) {
    while (next < order.size() && !spare.empty()) {
      StartBlock(*spare.back(), order[next++]);
      blocks_.push_back(std::move(spare.back()));
      spare.pop_back();
    }
    std::vector<size_t> able;
    for (size_t i = 0; i < blocks_.size(); ++i) {
      if (!blocks_[i]->waits) able.push_back(i);
    }
    if (able.empty()) {
      problem_ = std::string(kernel_.name) + ", " + WaitText(*blocks_[0]);
      break;
    }
    const size_t chosen = able.size() == 1 ? able[0] : able[random() % able.size()];
    if (RunThreads(*blocks_[chosen])) continue;
    spare.push_back(std::move(blocks_[chosen]));
    blocks_.erase(blocks_.begin() + static_cast<std::ptrdiff_t>(chosen));
  }
  blocks_.clear();
  current = outer;
  return problem_;
}

void GridRun::StartBlock(Block& block, uint64_t number) {
  const Index3 size = grid_size();
  block.index = {static_cast<uint32_t>(number % size.x), static_cast<uint32_t>(number / size.x % size.y),
                 static_cast<uint32_t>(number / size.x / size.y)};
  block.shared.assign(launch_.shared_bytes + 2 * kRedZone, 0xa5);
  block.shadow.Reset(launch_.shared_bytes);
  block.threads.assign(threads_, {});
  block.warps.assign(threads_ / 32, {});
  block.epoch = 1;
  block.waits = false;
  for (uint32_t i = 0; i < threads_; ++i) block.fibres->Start(static_cast<int>(i), &Entry);
}

bool GridRun::RunThreads(Block& block) {
  block_ = &block;
  const bool ran = RunReady();
  const auto in = [&](State state) {
    return std::count_if(block.threads.begin(), block.threads.end(),
                         [&](const Thread& t) { return t.state == state; });
  };
  const bool done = in(State::kDone) == threads_, at_barrier = in(State::kBlockBarrier) == threads_;
  if (at_barrier) ReleaseBarrier();
  if (!ran && !done && !at_barrier) {
    block.waits = true;
    return true;
  }
  for (const std::unique_ptr<Block>& other : blocks_) other->waits = false;
  return !done;
}

std::string GridRun::WaitText(const Block& block) const {
  const auto in = [&](State state) {
    return std::to_string(std::count_if(block.threads.begin(), block.threads.end(),
                                        [&](const Thread& t) { return t.state == state; }));
  };
  std::string text = "block " + Text(block.index) + ": " + in(State::kBlockBarrier) +
                     " threads wait in __syncthreads, " + in(State::kWarp) + " for their warps, and " +
                     in(State::kDone) + " are done";
  if (in(State::kPoll) != "0")
    text += ", " + in(State::kPoll) + " poll for what no thread that is under way will write";
  return text;
}

// A thread that polls again did nothing.
bool GridRun::RunReady() {
  bool ran = false;
  for (running_ = 0; running_ < threads_ && problem_.empty(); ++running_) {
    Thread& thread = running_thread();
    if (thread.state != State::kReady && thread.state != State::kPoll) continue;
    const bool polls = thread.state == State::kPoll;
    thread.state = State::kReady;
    thread.found = false;
    block_->fibres->Resume(static_cast<int>(running_));
    ran = ran || !polls || thread.found || thread.state != State::kPoll;
  }
  return ran;
}

void GridRun::ReleaseBarrier() {
  ++block_->epoch;
  for (Thread& thread : block_->threads) thread.state = State::kReady;
}

void GridRun::Entry() {
  GridRun& run = *current;
  try {
    run.kernel_.run(run.argument_.data());
    const Thread& thread = run.running_thread();
    if (!thread.open.empty() || !thread.groups.empty())
      run.Fail("ends with asynchronous copies that nobody waited for");
  } catch (const Failure&) {
  }
  run.running_thread().state = State::kDone;
  run.Suspend();
  __builtin_unreachable();
}

void GridRun::Suspend() { block_->fibres->Suspend(static_cast<int>(running_)); }

Index3 GridRun::thread_index() const {
  const Index3 size = block_size();
  return {running_ % size.x, running_ / size.x % size.y, running_ / size.x / size.y};
}

void GridRun::SyncThreads() {
  running_thread().state = State::kBlockBarrier;
  Suspend();
}

void GridRun::Poll() {
  running_thread().state = State::kPoll;
  Suspend();
}

void GridRun::SyncWarp() {
  // The last lane to come counts for all.
  struct Operation {
    static void Apply(void* const* operands) { ++*static_cast<uint32_t*>(operands[0]); }
  };
  Together(&Operation::Apply, &block_->warps[running_ / 32].epoch);
}

void GridRun::Together(WarpOperation operation, void* operand) {
  const uint32_t first = running_ / 32 * 32, lane = running_ % 32;
  Warp& warp = block_->warps[running_ / 32];
  if (warp.arrived != 0 && warp.operation != operation)
    Fail("lanes of a warp are in different operations of it");
  warp.operation = operation;
  warp.operands[lane] = operand;
  if (++warp.arrived < 32) {
    running_thread().state = State::kWarp;
    Suspend();
    return;
  }
  warp.arrived = 0;
  operation(warp.operands.data());
  for (uint32_t i = first; i < first + 32; ++i) block_->threads[i].state = State::kReady;
}

void GridRun::Touch(uintptr_t address, uint32_t bytes, Access access, uint32_t alignment) {
  const auto shared = reinterpret_cast<uintptr_t>(block_->shared.data());
  if (address - shared < block_->shared.size()) {
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
  if (block_->fibres->IsStack(address)) return;
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
  const std::string race = block_->shadow.Record(offset, bytes, access, Now());
  if (!race.empty()) Fail(race);
}

void GridRun::CopyAsync(void* shared, const void* global, uint32_t bytes, uint32_t valid_bytes) {
  const auto to = reinterpret_cast<uintptr_t>(shared);
  if (to - reinterpret_cast<uintptr_t>(block_->shared.data()) >= block_->shared.size()) {
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
  running_thread().open.push_back(
      {static_cast<unsigned char*>(shared), static_cast<const unsigned char*>(global), bytes, valid_bytes});
}

void GridRun::CommitCopies() {
  Thread& thread = running_thread();
  thread.groups.push_back(std::move(thread.open));
  thread.open.clear();
}

// Copies come as late as they may.
void GridRun::WaitCopies(uint32_t groups_left) {
  auto& groups = running_thread().groups;
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
  problem_ = std::string(kernel_.name) + ", block " + Text(block_->index) + ", thread " +
             std::to_string(running_) + ": " + problem;
  throw Failure{};
}

}  // namespace assay::emulated
