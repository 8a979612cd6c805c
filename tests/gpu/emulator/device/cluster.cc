#include "tests/gpu/emulator/device/cluster.h"

#include <algorithm>
#include <cstring>

#include "tests/gpu/emulator/device/block.h"

namespace assay::emulated {
namespace {

// Where the matrix begins that a product reads from `place` on, some steps along k.
uint32_t FirstRow(uint32_t place) { return (place + Cluster::kWindow) / 128 * 128 - Cluster::kWindow; }

bool Overlap(uint32_t begin, uint32_t end, uint32_t other_begin, uint32_t other_end) {
  return begin < other_end && other_begin < end;
}

}  // namespace

Cluster::Cluster(GridRun& run, uint32_t blocks, uint32_t threads, uint32_t shared_bytes)
    : run_(run),
      blocks_(blocks),
      threads_(threads),
      shared_bytes_(shared_bytes),
      clocks_(blocks * threads),
      groups_(blocks * threads / 128) {}

uint32_t Cluster::rank() const { return run_.rank(); }

uint32_t& Cluster::Component(Clock& clock, size_t i) {
  if (i >= clock.size()) clock.resize(i + 1);
  return clock[i];
}

void Cluster::Join(Clock& clock, const Clock& other) {
  if (clock.size() < other.size()) clock.resize(other.size());
  for (size_t i = 0; i < other.size(); ++i) clock[i] = std::max(clock[i], other[i]);
}

void Cluster::Meet(uint32_t first, uint32_t count) {
  Clock all;
  for (uint32_t i = first; i < first + count; ++i) {
    Tick(i);
    Join(all, clocks_[i]);
  }
  for (uint32_t i = first; i < first + count; ++i) clocks_[i] = all;
}

uint32_t Cluster::OffsetOf(uint32_t address, uint32_t bytes, uint32_t alignment, const char* what) const {
  const uint32_t offset = address - kWindow;
  if (address < kWindow || uint64_t{offset} + bytes > shared_bytes_) {
    run_.Fail(std::string(what) + " outside of shared memory, offset " +
              std::to_string(static_cast<int64_t>(address) - kWindow) + " of " +
              std::to_string(shared_bytes_));
  }
  if (address % alignment != 0) {
    run_.Fail(std::string(what) + " that is not aligned to " + std::to_string(alignment) +
              " bytes, shared memory offset " + std::to_string(offset));
  }
  return offset;
}

// ---- Barriers ---------------------------------------------------------------------------------------------

void Cluster::Init(uint32_t barrier, uint32_t arrivals) {
  const uint32_t offset = OffsetOf(barrier, 8, 8, "a barrier");
  if (arrivals == 0) run_.Fail("a barrier of no arrivals, offset " + std::to_string(offset));
  if (barriers_.contains({rank(), offset}))
    run_.Fail("a barrier is initialized twice, offset " + std::to_string(offset));
  Barrier made;
  made.wanted = made.left = arrivals;
  made.initializer = run_.running_;
  made.init_time = Tick(run_.running_);
  made.component = clocks_.size() + barriers_.size();
  barriers_.emplace(Place{rank(), offset}, std::move(made));
}

void Cluster::InitFence() {
  for (auto& [place, barrier] : barriers_) barrier.fenced |= barrier.initializer == run_.running_;
}

// The barrier, which this thread must know to be initialized; other blocks and the copies also need the
// fence.
Cluster::Barrier& Cluster::Find(Place place, const char* what) {
  const auto found = barriers_.find(place);
  const auto at = [&] {
    return ", offset " + std::to_string(place.second) + " of block " + std::to_string(place.first) +
           " of the cluster";
  };
  if (found == barriers_.end()) run_.Fail(std::string(what) + " of a barrier that nobody initialized" + at());
  Barrier& barrier = found->second;
  if (run_.running_ != barrier.initializer &&
      Time(clocks_[run_.running_], barrier.initializer) < barrier.init_time)
    run_.Fail(std::string(what) + " of a barrier whose initialization is not ordered before it" + at());
  if (place.first != rank() && !barrier.fenced)
    run_.Fail(std::string(what) + " of another block's barrier without a fence after its initialization" +
              at());
  return barrier;
}

void Cluster::Arrive(Barrier& barrier, const char* what) {
  if (barrier.left == 0) {
    run_.Fail(std::string(what) + ": more arrivals at a barrier than the " + std::to_string(barrier.wanted) +
              " wanted of its phase");
  }
  --barrier.left;
  Join(barrier.now, clocks_[run_.running_]);
  Tick(run_.running_);
}

void Cluster::EndPhase(Place place, Barrier& barrier) {
  if (barrier.left != 0 || barrier.bytes != 0) return;
  barrier.left = barrier.wanted;
  ++barrier.phase;
  barrier.done = std::move(barrier.now);
  barrier.now.clear();
  for (const auto& [thread, wait] : waits_) {
    if (wait.first == place) run_.here_->threads[thread].state = GridRun::State::kReady;
  }
}

void Cluster::Expect(uint32_t barrier, uint32_t bytes) {
  const Place place{rank(), OffsetOf(barrier, 8, 8, "a barrier")};
  Barrier& at = Find(place, "an arrival");
  Arrive(at, "an arrival that expects bytes");
  at.bytes += bytes;
  EndPhase(place, at);
}

void Cluster::ArriveAt(uint32_t barrier, uint32_t rank) {
  const uint32_t offset = OffsetOf(barrier, 8, 8, "a barrier");
  if (rank >= blocks_) {
    run_.Fail("an arrival in block " + std::to_string(rank) + " of a cluster of " + std::to_string(blocks_));
  }
  const auto first = run_.here_->threads.begin() + rank * threads_;
  if (std::all_of(first, first + threads_,
                  [](const GridRun::Thread& t) { return t.state == GridRun::State::kDone; }))
    run_.Fail("an arrival in block " + std::to_string(rank) + " of the cluster, which has ended");
  Barrier& at = Find({rank, offset}, "an arrival");
  Arrive(at, "an arrival");
  EndPhase({rank, offset}, at);
}

void Cluster::Wait(uint32_t barrier, uint32_t parity) {
  const Place place{rank(), OffsetOf(barrier, 8, 8, "a barrier")};
  if (run_.IsFaulty(Fault::Kind::kSkipWait)) return;
  for (;;) {
    Barrier& at = Find(place, "a wait");
    if (at.phase % 2 != parity % 2) {
      Join(clocks_[run_.running_], at.done);
      return;
    }
    const uint32_t thread = run_.running_;
    waits_[thread] = {place, parity};
    run_.Wait(GridRun::State::kBarrier);
    waits_.erase(thread);
  }
}

// ---- Copies -----------------------------------------------------------------------------------------------

// The bytes may be written by a copy of this thread: products that read them, and copies that wrote them, are
// over, and the thread knows it.
void Cluster::CheckCopyTo(uint32_t rank, uint32_t begin, uint32_t end) {
  const Clock& clock = clocks_[run_.running_];
  const std::string at = ", shared memory offset " + std::to_string(begin) + " of block " +
                         std::to_string(rank) + " of the cluster";
  for (const Read& read : reads_) {
    if (read.rank != rank || !Overlap(begin, end, read.begin, read.end)) continue;
    if (read.done == 0) run_.Fail("a copy to what a product under way reads" + at);
    if (Time(clock, read.group * 128) < read.done)
      run_.Fail("data race: a copy to what a product read, and nothing orders it after the product" + at);
  }
  for (const BulkCopy& copy : copies_) {
    if (copy.rank != rank || !Overlap(begin, end, copy.begin, copy.end)) continue;
    if (copy.came == 0) run_.Fail("a copy to where another copy is under way" + at);
    if (Time(clock, barriers_.at(copy.barrier).component) < copy.came)
      run_.Fail("data race: a copy over another copy's bytes, and nothing orders it after that" + at);
  }
  std::erase_if(copies_, [&](const BulkCopy& copy) {
    return copy.rank == rank && begin <= copy.begin && copy.end <= end;
  });
}

void Cluster::Copy(uint32_t to, const void* from, uint32_t bytes, uint32_t barrier, uint32_t ranks) {
  const uint32_t offset = OffsetOf(to, bytes, 16, "a copy"), place = OffsetOf(barrier, 8, 8, "a barrier");
  const auto source = reinterpret_cast<uintptr_t>(from);
  if (bytes == 0 || bytes % 16 != 0 || source % 16 != 0) {
    run_.Fail("a copy of " + std::to_string(bytes) + " bytes from the address " + std::to_string(source) +
              ", want multiples of 16");
  }
  if (!run_.memory_.Contains(source, bytes)) {
    run_.Fail("a copy of " + std::to_string(bytes) + " bytes outside of every allocation, at the address " +
              std::to_string(source));
  }
  if (ranks == 0 || ranks >> blocks_ != 0)
    run_.Fail("a copy to the blocks " + std::to_string(ranks) + " of a cluster of " +
              std::to_string(blocks_));
  for (uint32_t rank = 0; rank < blocks_; ++rank) {
    if ((ranks >> rank & 1) == 0) continue;
    if (!Find({rank, place}, "a copy").fenced)
      run_.Fail("a copy for a barrier without a fence after its initialization");
    CheckCopyTo(rank, offset, offset + bytes);
    copies_.push_back({rank, offset, offset + bytes, static_cast<const unsigned char*>(from), {rank, place}});
    std::memset(run_.shared_of(rank) + offset, 0x5a, bytes);
  }
}

bool Cluster::Deliver() {
  for (auto copy = copies_.rbegin(); copy != copies_.rend(); ++copy) {
    if (copy->came != 0) continue;
    const bool wanted = std::any_of(waits_.begin(), waits_.end(),
                                    [&](const auto& wait) { return wait.second.first == copy->barrier; });
    if (!wanted) continue;
    std::memcpy(run_.shared_of(copy->rank) + copy->begin, copy->from, copy->end - copy->begin);
    run_.here_->shadow.Bring(copy->rank * shared_bytes_ + copy->begin, copy->end - copy->begin);
    Barrier& barrier = barriers_.at(copy->barrier);
    copy->came = ++Component(barrier.now, barrier.component);
    // The count goes on in the next phase.
    copy->came = std::max(copy->came, Time(barrier.done, barrier.component) + 1);
    Component(barrier.now, barrier.component) = copy->came;
    barrier.bytes -= copy->end - copy->begin;
    EndPhase(copy->barrier, barrier);
    return true;
  }
  return false;
}

void Cluster::Access(uint32_t rank, uint32_t offset, uint32_t bytes, emulated::Access access) {
  const Clock& clock = clocks_[run_.running_];
  const uint32_t end = offset + bytes;
  for (const BulkCopy& copy : copies_) {
    if (copy.rank != rank || !Overlap(offset, end, copy.begin, copy.end)) continue;
    if (copy.came == 0 || Time(clock, barriers_.at(copy.barrier).component) < copy.came)
      run_.Fail("data race: access to what a copy writes, shared memory offset " + std::to_string(offset));
  }
  for (const auto& [place, barrier] : barriers_) {
    if (place.first == rank && Overlap(offset, end, place.second, place.second + 8))
      run_.Fail("access to a barrier, shared memory offset " + std::to_string(offset));
  }
  if (access == emulated::Access::kRead) return;
  for (const Read& read : reads_) {
    if (read.rank != rank || !Overlap(offset, end, read.begin, read.end)) continue;
    if (read.done == 0 || Time(clock, read.group * 128) < read.done)
      run_.Fail("data race: write of what a product reads, shared memory offset " + std::to_string(offset));
  }
}

std::string Cluster::WhyStuck() const {
  if (waits_.empty()) return "";
  std::string text = ", " + std::to_string(waits_.size()) + " at barriers";
  // One whose arrivals are there tells more.
  auto first = std::find_if(waits_.begin(), waits_.end(),
                            [&](const auto& wait) { return barriers_.at(wait.second.first).bytes != 0; });
  if (first == waits_.end()) first = waits_.begin();
  const auto& [thread, wait] = *first;
  const Barrier& barrier = barriers_.at(wait.first);
  text += "; nothing can end the wait of thread " + std::to_string(thread % threads_) + " of block " +
          std::to_string(thread / threads_) + " of the cluster for the barrier at offset " +
          std::to_string(wait.first.second) + ": of its " + std::to_string(barrier.wanted) + " arrivals " +
          std::to_string(barrier.left) + " are missing";
  if (barrier.bytes != 0)
    text += ", and " + std::to_string(barrier.bytes) + " of the expected bytes never come";
  return text;
}

std::string Cluster::Unfinished() const {
  for (const BulkCopy& copy : copies_) {
    if (copy.came == 0) return "bulk copies that nobody waited for";
  }
  for (const Group& group : groups_) {
    if (!group.open.empty() || !group.committed.empty()) return "products that nobody waited for";
  }
  return "";
}

// ---- Products of warpgroups -------------------------------------------------------------------------------

void Cluster::Together(const GroupCall& call) {
  if (threads_ % 128 != 0) run_.Fail("an operation of warpgroups in a block without whole ones");
  const uint32_t number = run_.running_ / 128, first = number * 128;
  Group& group = groups_[number];
  if (group.arrived != 0) {
    const auto other = std::find_if(group.calls.begin(), group.calls.end(),
                                    [](const GroupCall& c) { return c.sums != nullptr || c.value != ~0U; });
    if (other->call != call.call || other->a != call.a || other->b != call.b || other->value != call.value ||
        other->a_signed != call.a_signed || other->b_signed != call.b_signed)
      run_.Fail("threads of a warpgroup are in different operations of it");
  } else {
    group.calls.fill({call.call, nullptr, 0, 0, true, true, ~0U});
  }
  group.calls[run_.running_ - first] = call;
  if (++group.arrived < 128) {
    run_.Wait(GridRun::State::kWarpgroup);
    return;
  }
  group.arrived = 0;
  Finish(group, number);
  for (uint32_t i = first; i < first + 128; ++i) run_.here_->threads[i].state = GridRun::State::kReady;
}

void Cluster::Finish(Group& group, uint32_t number) {
  switch (group.calls[0].call) {
    case Call::kFence:
      group.fenced = true;
      return;
    case Call::kMultiply:
      Multiply(group, number);
      return;
    case Call::kCommit:
      group.committed.push_back(std::move(group.open));
      group.open.clear();
      return;
    case Call::kWait:
      EndGroups(group, number, group.calls[0].value);
      return;
    case Call::kRegisters:
      return;
  }
}

// The offset of the first row, and the step of 32 bytes along k in the lowest bits: rows of 128 bytes.
uint32_t Cluster::MatrixOf(uint64_t descriptor, uint32_t rows) {
  const auto address = static_cast<uint32_t>(descriptor & 0x3fff) << 4;
  const uint32_t step = address % 128, first = address - step;
  if (first % 1024 != 0 || step % 32 != 0)
    run_.Fail("a matrix at " + std::to_string(address) + ", want multiples of 1024 and steps of 32 bytes");
  OffsetOf(first, rows * 128, 16, "a matrix");
  return address - kWindow;
}

void Cluster::CheckOperand(uint32_t number, uint32_t begin, uint32_t bytes) {
  const uint32_t rank = number * 128 / threads_;
  std::vector<const BulkCopy*> brought;
  uint32_t covered = 0;
  for (const BulkCopy& copy : copies_) {
    if (copy.rank != rank || !Overlap(begin, begin + bytes, copy.begin, copy.end)) continue;
    if (copy.came == 0)
      run_.Fail("a product of bytes whose copy has not come, offset " + std::to_string(begin));
    brought.push_back(&copy);
    covered += std::min(begin + bytes, copy.end) - std::max(begin, copy.begin);
  }
  if (covered != bytes) run_.Fail("a product of bytes that no copy brought, offset " + std::to_string(begin));
  for (const BulkCopy* copy : brought) {
    const size_t component = barriers_.at(copy->barrier).component;
    for (uint32_t i = number * 128; i < number * 128 + 128; ++i) {
      if (Time(clocks_[i], component) < copy->came) {
        run_.Fail("data race: a product of bytes for whose barrier thread " + std::to_string(i % threads_) +
                  " did not wait, offset " + std::to_string(begin));
      }
    }
  }
  for (Read& read : reads_) {
    if (read.rank == rank && read.begin == begin && read.end == begin + bytes && read.group == number) {
      read.done = 0;
      return;
    }
  }
  reads_.push_back({rank, begin, begin + bytes, number});
}

constexpr int32_t kPoison = 0x3badbad3;

void Cluster::CheckSums(const Sums& sums) const {
  for (const int32_t* at : sums.at) {
    if (std::any_of(at, at + 128, [](int32_t x) { return x != kPoison; }))
      run_.Fail("sums were written while a product under way has them");
  }
}

void Cluster::Multiply(Group& group, uint32_t number) {
  if (!group.fenced) run_.Fail("a product without a fence of the sums before it");
  std::array<int32_t*, 128> at;
  for (uint32_t i = 0; i < 128; ++i) at[i] = group.calls[i].sums;
  const auto found =
      std::find_if(group.sums.begin(), group.sums.end(), [&](const auto& s) { return s->at == at; });
  std::shared_ptr<Sums> sums = found == group.sums.end() ? nullptr : *found;
  if (sums == nullptr) {
    sums = std::make_shared<Sums>(Sums{at, std::vector<int32_t>(64 * 256)});
    for (uint32_t i = 0; i < 128; ++i) {
      std::memcpy(sums->values.data() + i * 128, at[i], 512);
      std::fill_n(at[i], 128, kPoison);
    }
    group.sums.push_back(sums);
  }
  CheckSums(*sums);
  ++sums->uses;
  const GroupCall& call = group.calls[0];
  const uint32_t a = MatrixOf(call.a, 64), b = MatrixOf(call.b, 256);
  CheckOperand(number, FirstRow(a), 64 * 128);
  CheckOperand(number, FirstRow(b), 256 * 128);
  group.open.push_back({std::move(sums), a, b, call.a_signed, call.b_signed, call.value != 0});
}

void Cluster::Run(const Product& product, uint32_t rank) const {
  // Rows of zeros, which padding is, add nothing.
  const auto load = [&](uint32_t place, int rows, bool is_signed, std::vector<int16_t>& to,
                        std::vector<bool>& is_zero) {
    const uint32_t step = (place + kWindow) % 128, swizzle = run_.HasFault(Fault::Kind::kSwizzle) ? 1 : 0;
    const unsigned char* const first = run_.shared_of(rank) + place - step;
    to.resize(static_cast<size_t>(rows) * 32);
    is_zero.assign(static_cast<size_t>(rows), true);
    for (int r = 0; r < rows; ++r) {
      for (int k = 0; k < 32; ++k) {
        const uint32_t j = step + static_cast<uint32_t>(k);
        const unsigned char byte =
            first[r * 128 + ((j / 16) ^ ((static_cast<uint32_t>(r) + swizzle) % 8)) * 16 + j % 16];
        to[static_cast<size_t>(r) * 32 + k] = is_signed ? static_cast<int8_t>(byte) : byte;
        if (byte != 0) is_zero[static_cast<size_t>(r)] = false;
      }
    }
  };
  std::vector<int16_t> a, b;
  std::vector<bool> a_is_zero, b_is_zero;
  load(product.a, 64, product.a_signed, a, a_is_zero);
  load(product.b, 256, product.b_signed, b, b_is_zero);
  for (int row = 0; row < 64; ++row) {
    for (int column = 0; column < 256; ++column) {
      const bool is_zero = a_is_zero[static_cast<size_t>(row)] || b_is_zero[static_cast<size_t>(column)];
      if (is_zero && product.add) continue;
      const int16_t *const x = a.data() + row * 32, *const y = b.data() + column * 32;
      int32_t sum = 0;
      for (int k = 0; k < 32 && !is_zero; ++k) sum += x[k] * y[k];
      // Element 4 j + 2 h + i of thread 32 w + 4 g + t is row 16 w + g + 8 h, column 8 j + 2 t + i.
      const int thread = row / 16 * 32 + row % 8 * 4 + column % 8 / 2;
      int32_t& value = product.sums->values[thread * 128 + column / 8 * 4 + row % 16 / 8 * 2 + column % 2];
      value =
          static_cast<int32_t>((product.add ? static_cast<uint32_t>(value) : 0) + static_cast<uint32_t>(sum));
    }
  }
}

void Cluster::EndGroups(Group& group, uint32_t number, uint32_t left) {
  for (const auto& sums : group.sums) CheckSums(*sums);
  while (group.committed.size() > left) {
    for (const Product& product : group.committed.front()) {
      Run(product, number * 128 / threads_);
      --product.sums->uses;
    }
    group.committed.pop_front();
  }
  std::erase_if(group.sums, [&](const auto& sums) {
    if (sums->uses != 0) return false;
    for (uint32_t i = 0; i < 128; ++i) std::memcpy(sums->at[i], sums->values.data() + i * 128, 512);
    group.fenced = false;
    return true;
  });
  // A product has ended for all threads when one of them knows it.
  Meet(number * 128, 128);
  for (Read& read : reads_) {
    if (read.group != number || read.done != 0) continue;
    const auto any = [&](const std::vector<Product>& products) {
      return std::any_of(products.begin(), products.end(), [&](const Product& p) {
        return read.begin == FirstRow(p.a) || read.begin == FirstRow(p.b);
      });
    };
    if (!any(group.open) && std::none_of(group.committed.begin(), group.committed.end(), any))
      read.done = Time(clocks_[number * 128], number * 128);
  }
}

}  // namespace assay::emulated
