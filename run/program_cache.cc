#include "run/program_cache.h"

namespace assay {

ProgramCache& ProgramCache::OfProcess() {
  static auto* const cache = new ProgramCache(64, size_t{4} << 20);
  return *cache;
}

absl::StatusOr<Program> ProgramCache::Load(std::string_view name, std::string_view bytes,
                                           const std::shared_ptr<const CustomOps>& custom_ops) {
  const ProgramForm form = FormOfProgram(name, bytes);
  const bool keeps = max_programs_ > 0 && bytes.size() <= max_bytes_ / 4;
  if (keeps) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (std::optional<Program> found = Find(KeyOf(form, bytes, custom_ops))) return *std::move(found);
  }
  ASSAY_ASSIGN_OR_RETURN(Program program, Program::Load(name, bytes, {.custom_ops = custom_ops}));
  if (!keeps) return program;
  const std::lock_guard<std::mutex> lock(mutex_);
  // Another thread may have read it meanwhile.
  if (std::optional<Program> found = Find(KeyOf(form, bytes, custom_ops))) return *std::move(found);
  entries_.push_front({form, std::string(bytes), custom_ops, program});
  places_.emplace(KeyOf(form, entries_.front().bytes, custom_ops), entries_.begin());
  kept_bytes_ += bytes.size();
  while (entries_.size() > max_programs_ || kept_bytes_ > max_bytes_) DropOldest();
  return program;
}

std::optional<Program> ProgramCache::Find(const Key& key) {
  const auto place = places_.find(key);
  if (place == places_.end()) return std::nullopt;
  entries_.splice(entries_.begin(), entries_, place->second);
  return place->second->program;
}

void ProgramCache::DropOldest() {
  const Entry& oldest = entries_.back();
  kept_bytes_ -= oldest.bytes.size();
  places_.erase(KeyOf(oldest.form, oldest.bytes, oldest.custom_ops));
  entries_.pop_back();
}

size_t ProgramCache::size() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return entries_.size();
}

}  // namespace assay
