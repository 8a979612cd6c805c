#include "run/program_cache.h"

#include "run/engine_list.h"

namespace assay {

absl::StatusOr<std::shared_ptr<const Plan>> PlannedProgram::PlanFor(EngineChoice choice, Isa isa) {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::shared_ptr<const Plan>& plan = plans_[{choice, isa}];
  if (plan == nullptr) {
    ASSAY_ASSIGN_OR_RETURN(Plan made, MakePlan(module_, choice, isa));
    plan = std::make_shared<const Plan>(std::move(made));
  }
  return plan;
}

ProgramCache& ProgramCache::OfProcess() {
  static auto* const cache = new ProgramCache(64, size_t{4} << 20);
  return *cache;
}

absl::StatusOr<std::shared_ptr<PlannedProgram>> ProgramCache::Load(std::string_view name,
                                                                   std::string_view bytes) {
  const ProgramForm form = FormOfProgram(name, bytes);
  const bool keeps = max_programs_ > 0 && bytes.size() <= max_bytes_ / 4;
  if (keeps) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (std::shared_ptr<PlannedProgram> found = Find(KeyOf(form, bytes))) return found;
  }
  ASSAY_ASSIGN_OR_RETURN(Module parsed, LoadProgram(name, bytes));
  ASSAY_ASSIGN_OR_RETURN(VerifiedModule module, Verify(std::move(parsed)));
  auto program = std::make_shared<PlannedProgram>(std::move(module));
  if (!keeps) return program;
  const std::lock_guard<std::mutex> lock(mutex_);
  // Another thread may have read it meanwhile.
  if (std::shared_ptr<PlannedProgram> found = Find(KeyOf(form, bytes))) return found;
  entries_.push_front({form, std::string(bytes), program});
  places_.emplace(KeyOf(form, entries_.front().bytes), entries_.begin());
  kept_bytes_ += bytes.size();
  while (entries_.size() > max_programs_ || kept_bytes_ > max_bytes_) DropOldest();
  return program;
}

std::shared_ptr<PlannedProgram> ProgramCache::Find(const Key& key) {
  const auto place = places_.find(key);
  if (place == places_.end()) return nullptr;
  entries_.splice(entries_.begin(), entries_, place->second);
  return place->second->program;
}

void ProgramCache::DropOldest() {
  const Entry& oldest = entries_.back();
  kept_bytes_ -= oldest.bytes.size();
  places_.erase(KeyOf(oldest.form, oldest.bytes));
  entries_.pop_back();
}

size_t ProgramCache::size() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return entries_.size();
}

}  // namespace assay
