// Generated code by what it computes, for the whole process: a program that is planned again, or another one
// with the same loop, makes no code again.
#ifndef ASSAY_JIT_CODE_CACHE_H_
#define ASSAY_JIT_CODE_CACHE_H_

#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>

#include "base/hash_map.h"
#include "jit/code_memory.h"
#include "jit/segment.h"

namespace assay::jit {

struct GeneratedCode {
  CodeMemory memory;
  int lanes = 0;
  int slots = 0;  // of scratch memory
};

// Keeps what was used last. Code that somebody holds outlives its place here.
// The cache is safe from many threads.
class CodeCache {
 public:
  using Maker = std::function<absl::StatusOr<GeneratedCode>()>;
  explicit CodeCache(size_t capacity) : capacity_(capacity) {}

  static CodeCache& OfProcess();

  // What is kept under the key, else what `make` gives; its errors are not kept.
  absl::StatusOr<std::shared_ptr<const GeneratedCode>> Get(const std::string& key, const Maker& make);
  size_t size() const;

 private:
  struct Entry {
    std::string key;
    std::shared_ptr<const GeneratedCode> code;
  };
  using Entries = std::list<Entry>;  // last used first

  const size_t capacity_;
  mutable std::mutex mutex_;
  Entries entries_;
  HashMap<std::string, Entries::iterator> places_;
};

// Every field of the segment, the target and what else the code depends on, as bytes.
std::string KeyOf(const Segment& segment, Isa target, int lanes, int condition);

}  // namespace assay::jit

#endif  // ASSAY_JIT_CODE_CACHE_H_
