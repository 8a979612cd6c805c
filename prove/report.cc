#include "prove/report.h"

#include <cstdio>
#include <fstream>
#include <map>
#include <sstream>

#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/error.h"
#include "fmt/format.h"

namespace assay::prove {
namespace {

constexpr char kBegin[] = "<!-- proofs: begin -->\n";
constexpr char kEnd[] = "<!-- proofs: end -->\n";
constexpr char kHead[] =
    "| function | type | engine | inputs | tried | wrong | seconds | date |\n"
    "|---|---|---|---|---:|---:|---:|---|\n";

// 4294967296 -> "4,294,967,296"
std::string Grouped(int64_t n) {
  std::string digits = std::to_string(n);
  for (int at = static_cast<int>(digits.size()) - 3; at > 0; at -= 3) digits.insert(at, ",");
  return digits;
}

}  // namespace

void Proof::AddWrong(std::string example) {
  ++wrong;
  if (examples.size() < kExamples) examples.push_back(std::move(example));
}

void Proof::Merge(const Proof& part) {
  tried += part.tried;
  wrong += part.wrong;
  for (const std::string& example : part.examples) {
    if (examples.size() < kExamples) examples.push_back(example);
  }
}

std::string Hex(uint64_t pattern, int bits) { return fmt::format("0x{:0{}x}", pattern, (bits + 3) / 4); }

std::string WrongLine(const std::string& operands, uint64_t got, uint64_t wanted, int bits) {
  return fmt::format("{}: got {}, wanted {}", operands, Hex(got, bits), Hex(wanted, bits));
}

void Ledger::Add(const Proof& proof) {
  const std::lock_guard lock(mutex_);
  fmt::print("{:<20} {:<24} {:>15} tried {:>5} wrong {:9.1f} s\n", proof.function, proof.type,
             Grouped(proof.tried), proof.wrong, proof.seconds);
  for (const std::string& example : proof.examples) fmt::print("  WRONG {} {}\n", proof.function, example);
  std::fflush(stdout);
  proofs_.push_back(proof);
  wrong_ += proof.wrong;
}

absl::StatusOr<std::string> WithRows(const std::string& text, const std::vector<Proof>& proofs,
                                     const std::string& engine, const std::string& date) {
  const size_t begin = text.find(kBegin), end = text.find(kEnd);
  if (begin == std::string::npos || end == std::string::npos || end < begin) {
    return BadInput("the marker lines of the table of proofs are missing");
  }
  // Rows by their first three cells, so that the table is sorted and a new row replaces the old one.
  std::map<std::string, std::string> rows;
  const size_t body = begin + sizeof(kBegin) - 1;
  for (const absl::string_view line : absl::StrSplit(text.substr(body, end - body), '\n')) {
    const std::vector<std::string> cells = absl::StrSplit(line, " | ");
    if (cells.size() != 8 || cells[0] == "| function") continue;
    rows[fmt::format("{} | {} | {}", cells[0], cells[1], cells[2])] = std::string(line);
  }
  for (const Proof& proof : proofs) {
    const std::string key = fmt::format("| {} | {} | {}", proof.function, proof.type, engine);
    rows[key] = fmt::format("{} | {} | {} | {} | {:.0f} | {} |", key, proof.inputs, Grouped(proof.tried),
                            proof.wrong, proof.seconds, date);
  }
  std::string table = kHead;
  for (const auto& [key, row] : rows) table += row + "\n";
  return text.substr(0, body) + table + text.substr(end);
}

absl::Status Ledger::Record(const std::string& path, const std::string& date) const {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  if (!in) return BadInput(fmt::format("{}: can't be read", path));
  ASSAY_ASSIGN_OR_RETURN(const std::string updated, WithRows(text.str(), proofs_, engine_, date));
  std::ofstream out(path, std::ios::trunc);
  out << updated;
  out.close();
  if (!out) return BadInput(fmt::format("{}: can't be written", path));
  return absl::OkStatus();
}

}  // namespace assay::prove
