#include "check/isolate/records.h"

#include <algorithm>
#include <limits>

#include "fmt/format.h"

namespace assay {
namespace {

constexpr int64_t kBehind = std::numeric_limits<int64_t>::max();

void Merge(Conformance& total, const Conformance& found) {
  if (total.worst.empty() || (total.outside == 0 && found.outside > 0)) {
    total.key = found.key;
    total.error = found.error;
    total.worst = found.worst;
  }
  AddCounts(total, found);
}

bool IsWrong(const IsolatedInstruction& instruction) {
  return instruction.verdict == IsolatedInstruction::Verdict::kViolates;
}

}  // namespace

void AddCounts(Conformance& total, const Conformance& one) {
  total.elements += one.elements;
  total.inside += one.inside;
  total.outside += one.outside;
  total.unchecked += one.unchecked;
  total.largest_share = std::max(total.largest_share, one.largest_share);
  total.largest_ulps = std::max(total.largest_ulps, one.largest_ulps);
  total.median_radius_ulps = std::max(total.median_radius_ulps, one.median_radius_ulps);
}

Records::Entry& Records::EntryOf(const Site& site, int32_t instruction) {
  const Instruction& of =
      module_.computation(site.computation).instructions[static_cast<size_t>(instruction)];
  std::vector<int64_t> key = site.callers;
  // Of the branches and the two computations of a loop each has its own instructions.
  key.push_back(site.computation.value);
  key.push_back(instruction);
  if (IsLookedInto(of)) key.push_back(kBehind);
  const auto [it, is_new] = entries_.try_emplace(std::move(key));
  if (is_new) {
    IsolatedInstruction& fresh = it->second.instruction;
    fresh.name = of.name;
    fresh.op = std::string(Name(of.opcode));
    fresh.shape = of.shape->ToString();
    fresh.inside = site.inside;
    fresh.computation = site.computation;
    fresh.instruction = instruction;
  }
  return it->second;
}

IsolatedInstruction& Records::Of(const Site& site, int32_t instruction) {
  return EntryOf(site, instruction).instruction;
}

void Records::LeaveOut(const Site& site, int32_t instruction, std::string_view why) {
  IsolatedInstruction& left_out = Of(site, instruction);
  left_out.verdict = IsolatedInstruction::Verdict::kLeftOut;
  left_out.why = std::string(why);
}

void Records::Add(const Site& site, int32_t instruction, const Conformance& found) {
  IsolatedInstruction& of = Of(site, instruction);
  ++of.runs;
  Merge(of.result, found);
}

void Records::Confirm(const Site& site, int32_t instruction, int64_t iteration, const Conformance& in_program,
                      const Conformance* alone) {
  using Verdict = IsolatedInstruction::Verdict;
  Entry& entry = EntryOf(site, instruction);
  IsolatedInstruction& of = entry.instruction;
  ++entry.confirmed;
  const bool violates = alone != nullptr && (alone->outside > 0 || !alone->error.empty());
  if (IsWrong(of) || (!violates && of.verdict == Verdict::kDiffers)) return;
  of.verdict = violates ? Verdict::kViolates : Verdict::kDiffers;
  of.iteration = site.loop != nullptr ? iteration : site.iteration;
  const Conformance& shown = violates ? *alone : in_program;
  of.result.worst = shown.worst;
  of.result.error = shown.error;
  of.result.outside = std::max(of.result.outside, shown.outside);
  entry.first = site.place;
  if (!site.place.empty()) entry.first.push_back(site.loop != nullptr ? iteration : 0);
  entry.first.push_back(instruction);
  if (IsLookedInto(module_.computation(site.computation).instructions[static_cast<size_t>(instruction)]))
    entry.first.push_back(kBehind);
}

void Records::Finish(Isolation& result) && {
  const Place* wrong = nullptr;
  const Place* differs = nullptr;
  for (auto& [key, entry] : entries_) {
    const int64_t number = static_cast<int64_t>(result.instructions.size());
    if (IsWrong(entry.instruction) && (wrong == nullptr || entry.first < *wrong)) {
      wrong = &entry.first;
      result.first_wrong = number;
    }
    if (entry.instruction.verdict == IsolatedInstruction::Verdict::kDiffers &&
        (differs == nullptr || entry.first < *differs)) {
      differs = &entry.first;
      result.first_differs = number;
    }
    result.instructions.push_back(std::move(entry.instruction));
  }
}

}  // namespace assay
