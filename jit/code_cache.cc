#include "jit/code_cache.h"

#include <utility>

namespace assay::jit {
namespace {

constexpr size_t kCapacity = 1024;  // each has a page or a few

template <typename T>
void Append(std::string& key, T value) {
  key.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

}  // namespace

CodeCache& CodeCache::OfProcess() {
  static auto* const cache = new CodeCache(kCapacity);
  return *cache;
}

absl::StatusOr<std::shared_ptr<const GeneratedCode>> CodeCache::Get(const std::string& key,
                                                                    const Maker& make) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (const auto place = places_.find(key); place != places_.end()) {
      entries_.splice(entries_.begin(), entries_, place->second);
      return place->second->code;
    }
  }
  // Two threads may both make it; one of the two is kept.
  ASSAY_ASSIGN_OR_RETURN(GeneratedCode made, make());
  auto code = std::make_shared<const GeneratedCode>(std::move(made));
  const std::lock_guard<std::mutex> lock(mutex_);
  if (places_.contains(key)) return code;
  entries_.push_front({key, code});
  places_.emplace(key, entries_.begin());
  if (entries_.size() > capacity_) {
    places_.erase(entries_.back().key);
    entries_.pop_back();
  }
  return code;
}

size_t CodeCache::size() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return entries_.size();
}

std::string KeyOf(const Segment& segment, Isa target, int lanes, int condition) {
  std::string key;
  key.reserve(32 + segment.streams.size() * 2 + segment.nodes.size() * 20 + segment.stores.size() * 4);
  Append(key, target);
  Append(key, lanes);
  Append(key, condition);
  Append(key, segment.streams.size());
  for (const Stream& stream : segment.streams) {
    Append(key, stream.type);
    Append(key, stream.repeated);
    Append(key, stream.single);
    Append(key, stream.streamed);
  }
  Append(key, segment.nodes.size());
  for (const Node& node : segment.nodes) {
    Append(key, node.opcode);
    Append(key, node.type);
    for (int16_t operand : node.operands) Append(key, operand);
    Append(key, node.a);
    Append(key, node.flag);
  }
  for (const Store& store : segment.stores) {
    Append(key, store.node);
    Append(key, store.stream);
  }
  return key;
}

}  // namespace assay::jit
