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
      cluster_blocks_(std::max(kernel.cluster_blocks, uint32_t{1})),
      argument_(launch.argument, launch.argument + kernel.argument_bytes) {}

std::string GridRun::Run() {
  if (threads_ == 0 || threads_ > kernel_.most_threads || threads_ % 32 != 0) {
    return std::string(kernel_.name) + ": blocks of " + std::to_string(threads_) +
           " threads, want whole warps and at most " + std::to_string(kernel_.most_threads);
  }
  const Index3 size = grid_size();
  if (threads_ * cluster_blocks_ > kMaxThreads || size.x % cluster_blocks_ != 0) {
    return std::string(kernel_.name) + ": " + std::to_string(size.x) + " blocks of " +
           std::to_string(threads_) + " threads in clusters of " + std::to_string(cluster_blocks_) +
           ", want whole clusters of at most " + std::to_string(kMaxThreads) + " threads";
  }
  GridRun* const outer = current;
  current = this;
  std::vector<uint64_t> order(uint64_t{size.x} * size.y * size.z / cluster_blocks_);
  std::iota(order.begin(), order.end(), uint64_t{0});
  std::mt19937_64 random(launch_.order);
  size_t most = 1;
  if (launch_.order != 0) {
    std::shuffle(order.begin(), order.end(), random);
    most = 1 + random() % kMostBlocks;
  }
  std::vector<std::unique_ptr<Resident>> spare;
  for (size_t i = 0; i < most; ++i) {
    if (Spare().empty()) {
      spare.push_back(std::make_unique<Resident>());
    } else {
      spare.push_back(std::move(Spare().back()));
      Spare().pop_back();
    }
    spare.back()->fibres = &ThreadFibres(i);
  }
  for (size_t next = 0; problem_.empty() && (next < order.size() || !resident_.empty());) {
    while (next < order.size() && !spare.empty()) {
      Start(*spare.back(), order[next++]);
      resident_.push_back(std::move(spare.back()));
      spare.pop_back();
    }
    std::vector<size_t> able;
    for (size_t i = 0; i < resident_.size(); ++i) {
      if (!resident_[i]->waits) able.push_back(i);
    }
    if (able.empty()) {
      problem_ = std::string(kernel_.name) + ", " + WaitText(*resident_[0]);
      break;
    }
    const size_t chosen = able.size() == 1 ? able[0] : able[random() % able.size()];
    if (RunThreads(*resident_[chosen])) continue;
    spare.push_back(std::move(resident_[chosen]));
    resident_.erase(resident_.begin() + static_cast<std::ptrdiff_t>(chosen));
  }
  for (std::unique_ptr<Resident>& left : resident_) spare.push_back(std::move(left));
  resident_.clear();
  for (std::unique_ptr<Resident>& left : spare) {
    left->cluster.reset();
    Spare().push_back(std::move(left));
  }
  current = outer;
  return problem_;
}

std::vector<std::unique_ptr<GridRun::Resident>>& GridRun::Spare() {
  static thread_local std::vector<std::unique_ptr<Resident>> spare;
  return spare;
}

void GridRun::Start(Resident& blocks, uint64_t number) {
  const Index3 size = grid_size();
  const uint64_t block = number * cluster_blocks_;
  blocks.first = {static_cast<uint32_t>(block % size.x), static_cast<uint32_t>(block / size.x % size.y),
                  static_cast<uint32_t>(block / size.x / size.y)};
  blocks.shared.assign(uint64_t{cluster_blocks_} * segment(), 0xa5);
  blocks.shadow.Reset(cluster_blocks_ * launch_.shared_bytes);
  blocks.threads.resize(threads_ * cluster_blocks_);
  for (Thread& thread : blocks.threads) {
    thread.state = State::kReady;
    thread.found = false;
    thread.faulted = 0;
    thread.open.clear();
    thread.groups.clear();
  }
  blocks.warps.assign(threads_ * cluster_blocks_ / 32, {});
  blocks.epochs.assign(cluster_blocks_, 1);
  blocks.cluster.reset();
  if (kernel_.cluster_blocks > 0)
    blocks.cluster = std::make_unique<Cluster>(*this, cluster_blocks_, threads_, launch_.shared_bytes);
  blocks.waits = false;
  for (size_t i = 0; i < blocks.threads.size(); ++i) blocks.fibres->Start(static_cast<int>(i), &Entry);
}

bool GridRun::RunThreads(Resident& blocks) {
  here_ = &blocks;
  const bool ran = RunReady();
  if (!problem_.empty()) return true;
  if (std::all_of(blocks.threads.begin(), blocks.threads.end(),
                  [](const Thread& t) { return t.state == State::kDone; })) {
    problem_ = Unfinished(blocks);
    for (const std::unique_ptr<Resident>& other : resident_) other->waits = false;
    return false;
  }
  const bool released = ReleaseBarriers();
  if (!ran && !released && (blocks.cluster == nullptr || !blocks.cluster->Deliver())) {
    blocks.waits = true;
    return true;
  }
  for (const std::unique_ptr<Resident>& other : resident_) other->waits = false;
  return true;
}

std::string GridRun::Unfinished(const Resident& blocks) const {
  if (blocks.cluster == nullptr) return "";
  const std::string left = blocks.cluster->Unfinished();
  if (left.empty()) return "";
  return std::string(kernel_.name) + ", block " + Text(blocks.first) + ": ends with " + left;
}

std::string GridRun::WaitText(const Resident& blocks) const {
  const auto in = [&](State state) {
    return std::to_string(std::count_if(blocks.threads.begin(), blocks.threads.end(),
                                        [&](const Thread& t) { return t.state == state; }));
  };
  std::string text = "block " + Text(blocks.first) + ": " + in(State::kBlockBarrier) +
                     " threads wait in __syncthreads, " + in(State::kWarp) + " for their warps, and " +
                     in(State::kDone) + " are done";
  if (in(State::kPoll) != "0")
    text += ", " + in(State::kPoll) + " poll for what no thread that is under way will write";
  if (blocks.cluster == nullptr) return text;
  return text + "; " + in(State::kClusterBarrier) + " wait for the cluster, " + in(State::kWarpgroup) +
         " for their warpgroups" + blocks.cluster->WhyStuck();
}

// A thread that polls again did nothing.
bool GridRun::RunReady() {
  bool ran = false;
  for (running_ = 0; running_ < here_->threads.size() && problem_.empty(); ++running_) {
    Thread& thread = running_thread();
    if (thread.state != State::kReady && thread.state != State::kPoll) continue;
    const bool polls = thread.state == State::kPoll;
    thread.state = State::kReady;
    thread.found = false;
    here_->fibres->Resume(static_cast<int>(running_));
    ran = ran || !polls || thread.found || thread.state != State::kPoll;
  }
  return ran;
}

bool GridRun::ReleaseBarriers() {
  bool released = false;
  const auto release = [&](uint32_t first, uint32_t count, State state) {
    const auto begin = here_->threads.begin() + first, end = begin + count;
    if (!std::all_of(begin, end, [&](const Thread& t) { return t.state == state; })) return;
    for (auto thread = begin; thread != end; ++thread) thread->state = State::kReady;
    if (here_->cluster != nullptr) here_->cluster->Meet(first, count);
    for (uint32_t i = first; i < first + count; i += threads_) ++here_->epochs[i / threads_];
    released = true;
  };
  for (uint32_t i = 0; i < cluster_blocks_; ++i) release(i * threads_, threads_, State::kBlockBarrier);
  release(0, cluster_blocks_ * threads_, State::kClusterBarrier);
  return released;
}

Cluster& GridRun::cluster() {
  if (here_->cluster == nullptr) Fail("an operation of sm_90a in a kernel that is not a CLUSTER_KERNEL");
  return *here_->cluster;
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

void GridRun::Suspend() { here_->fibres->Suspend(static_cast<int>(running_)); }

Index3 GridRun::thread_index() const {
  const Index3 size = block_size();
  const uint32_t thread = running_ % threads_;
  return {thread % size.x, thread / size.x % size.y, thread / size.x / size.y};
}

void GridRun::Wait(State state) {
  running_thread().state = state;
  Suspend();
}

void GridRun::SyncThreads() {
  if (IsFaulty(Fault::Kind::kSkipBarrier)) return;
  Wait(State::kBlockBarrier);
}
void GridRun::Poll() { Wait(State::kPoll); }
void GridRun::SyncCluster() {
  cluster();
  Wait(State::kClusterBarrier);
}

void GridRun::SyncWarp() {
  // The last lane to come counts for all.
  struct Operation {
    static void Apply(void* const* operands) {
      ++*static_cast<uint32_t*>(operands[0]);
      Cluster* const cluster = current->here_->cluster.get();
      if (cluster != nullptr) cluster->Meet(current->running_ / 32 * 32, 32);
    }
  };
  Together(&Operation::Apply, &here_->warps[running_ / 32].epoch);
}

void GridRun::Together(WarpOperation operation, void* operand) {
  const uint32_t first = running_ / 32 * 32, lane = running_ % 32;
  Warp& warp = here_->warps[running_ / 32];
  if (warp.arrived != 0 && warp.operation != operation)
    Fail("lanes of a warp are in different operations of it");
  warp.operation = operation;
  warp.operands[lane] = operand;
  if (++warp.arrived < 32) {
    Wait(State::kWarp);
    return;
  }
  warp.arrived = 0;
  operation(warp.operands.data());
  for (uint32_t i = first; i < first + 32; ++i) here_->threads[i].state = State::kReady;
}

void GridRun::Touch(uintptr_t address, uint32_t bytes, Access access, uint32_t alignment) {
  const auto all = reinterpret_cast<uintptr_t>(here_->shared.data());
  if (address - all < here_->shared.size()) {
    const auto begin = reinterpret_cast<uintptr_t>(shared());
    const auto offset = static_cast<int64_t>(address - begin);
    if ((address - all) / segment() != rank())
      Fail("access of " + std::to_string(bytes) + " bytes to another block's shared memory");
    if (address % alignment != 0) {
      Fail("access of " + std::to_string(bytes) + " bytes that is not aligned, shared memory offset " +
           std::to_string(offset));
    }
    if (address < begin || address + bytes > begin + launch_.shared_bytes) {
      Fail("access of " + std::to_string(bytes) + " bytes outside of shared memory, offset " +
           std::to_string(offset) + " of " + std::to_string(launch_.shared_bytes));
    }
    TouchShared(static_cast<uint32_t>(offset), bytes, access);
    return;
  }
  if (here_->fibres->IsStack(address)) return;
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
  if (here_->cluster != nullptr) here_->cluster->Access(rank(), offset, bytes, access);
  const std::string race = here_->shadow.Record(rank() * launch_.shared_bytes + offset, bytes, access, Now());
  if (!race.empty()) Fail(race);
}

void GridRun::CopyAsync(void* shared, const void* global, uint32_t bytes, uint32_t valid_bytes) {
  const auto to = reinterpret_cast<uintptr_t>(shared);
  if (to - reinterpret_cast<uintptr_t>(here_->shared.data()) >= here_->shared.size()) {
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
  if (IsFaulty(Fault::Kind::kEarlyCopies)) ++groups_left;
  while (groups.size() > groups_left) {
    Finish(groups.front());
    groups.erase(groups.begin());
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
  problem_ = std::string(kernel_.name) + ", block " + Text(block_index()) + ", thread " +
             std::to_string(running_ % threads_) + ": " + problem;
  throw Failure{};
}

}  // namespace assay::emulated
