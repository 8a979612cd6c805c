// What is known of every byte of a block's shared memory: who wrote and read it last, and when.
//
// Two accesses of different threads are in order when __syncthreads stands between them or, within a warp,
// __syncwarp. A read or write that is not in order with another thread's write, or a write that is not with
// another's read, is a data race, whether or not it shows; so is a read of a byte that nobody wrote.
#ifndef ASSAY_TESTS_GPU_EMULATOR_DEVICE_SHADOW_H_
#define ASSAY_TESTS_GPU_EMULATOR_DEVICE_SHADOW_H_

#include <cstdint>
#include <string>
#include <vector>

namespace assay::emulated {

// When a thread does something: the barriers of its block, and those of its warp, that it has passed.
struct Moment {
  uint32_t thread = 0;
  uint32_t block_epoch = 0;
  uint32_t warp_epoch = 0;
};

enum class Access { kRead, kWrite, kAtomic };

class Shadow {
 public:
  // Nobody wrote or read any of so many bytes. What is known is forgotten when a byte is looked at next.
  void Reset(uint32_t bytes) {
    if (bytes_.size() < bytes) bytes_.resize(bytes);
    if (++generation_ == 0) {
      bytes_.assign(bytes_.size(), {});
      generation_ = 1;
    }
  }

  // Bytes that a bulk copy brought: who may read them, the cluster's clocks say (cluster.h).
  void Bring(uint32_t offset, uint32_t count) {
    for (uint32_t i = offset; i < offset + count; ++i)
      bytes_[i] = {.generation = generation_, .written = true};
  }

  // The race that an access of bytes [offset, offset + count) makes; empty: none. The bytes are inside.
  std::string Record(uint32_t offset, uint32_t count, Access access, const Moment& now) {
    for (uint32_t i = offset; i < offset + count; ++i) {
      Byte& byte = bytes_[i];
      if (byte.generation != generation_) byte = {.generation = generation_};
      const char* const race = access == Access::kRead ? Read(byte, now) : Write(byte, now, access);
      if (race != nullptr) return Describe(race, i, now);
    }
    return "";
  }

 private:
  static constexpr uint16_t kMany = 0xffff;
  // Who did something last: a thread or many of a warp in its epoch, in a warp or many of the block's epoch.
  // Epochs count from 1; 0: nobody.
  struct Last {
    uint32_t block_epoch = 0, warp_epoch = 0;
    uint16_t warp = 0, thread = 0;
  };
  struct Byte {
    Last write, read;
    uint32_t generation = 0;  // of the block; of another one nothing of it counts
    bool written = false, atomic = false;
  };

  // Whether somebody but now.thread did `last` not in order with `now`.
  static bool Unordered(const Last& last, const Moment& now) {
    if (last.block_epoch != now.block_epoch) return false;
    if (last.warp != now.thread / 32) return true;
    return last.warp_epoch == now.warp_epoch && last.thread != now.thread;
  }
  static void Note(Last& last, const Moment& now) {
    const auto warp = static_cast<uint16_t>(now.thread / 32), thread = static_cast<uint16_t>(now.thread);
    if (last.block_epoch != now.block_epoch) {
      last = {now.block_epoch, now.warp_epoch, warp, thread};
    } else if (last.warp != warp) {
      last.warp = kMany;
    } else if (last.warp_epoch != now.warp_epoch) {
      last.warp_epoch = now.warp_epoch;
      last.thread = thread;
    } else if (last.thread != thread) {
      last.thread = kMany;
    }
  }
  static const char* Read(Byte& byte, const Moment& now) {
    if (!byte.written) return "read of a byte that nobody wrote";
    if (Unordered(byte.write, now)) return "data race: read of what another thread wrote";
    Note(byte.read, now);
    return nullptr;
  }
  static const char* Write(Byte& byte, const Moment& now, Access access) {
    const bool atomic = access == Access::kAtomic;
    if (atomic && !byte.written) return "atomic operation on a byte that nobody wrote";
    if (Unordered(byte.write, now) && !(atomic && byte.atomic))
      return "data race: write over another thread's write";
    if (Unordered(byte.read, now)) return "data race: write of what another thread reads";
    Note(byte.write, now);
    byte.written = true;
    byte.atomic = atomic;
    return nullptr;
  }
  std::string Describe(const char* race, uint32_t offset, const Moment& now) const {
    const Last& other = race == nullptr || !bytes_[offset].written ? Last{}
                        : Unordered(bytes_[offset].write, now)     ? bytes_[offset].write
                                                                   : bytes_[offset].read;
    std::string text = std::string(race) + ", shared memory offset " + std::to_string(offset);
    if (other.block_epoch == 0) return text;
    text += other.warp == kMany     ? ", other: threads of several warps"
            : other.thread == kMany ? ", other: threads of warp " + std::to_string(other.warp)
                                    : ", other: thread " + std::to_string(other.thread);
    return text;
  }

  std::vector<Byte> bytes_;
  uint32_t generation_ = 0;
};

}  // namespace assay::emulated

#endif  // ASSAY_TESTS_GPU_EMULATOR_DEVICE_SHADOW_H_
