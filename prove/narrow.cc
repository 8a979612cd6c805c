#include "prove/narrow.h"

#include <algorithm>
#include <array>

#include "fmt/format.h"
#include "prove/parallel.h"

namespace assay::prove {
namespace {

constexpr int kPairBits = 8;

struct Strips {
  alignas(64) std::byte x[kStripBytes], y[kStripBytes], result[kStripBytes];
};

// A proof over several types as one row, under the name of their widths.
struct Task {
  std::string function, types;
  std::vector<std::function<Proof()>> parts;
};

Proof Run(const Task& task) {
  Proof proof{.function = task.function, .type = task.types, .inputs = "all"};
  const Stopwatch watch;
  for (const auto& part : task.parts) proof.Merge(part());
  proof.seconds = watch.Seconds();
  return proof;
}

std::string Widths(std::string_view kind, int64_t count, int bits) {
  return fmt::format("{} {} types to {} bits", count, kind, bits);
}

void AddFunctions(int bits, const std::string& engine, std::vector<Task>& tasks) {
  for (const Function1& f : Functions1()) {
    Task task{.function = std::string(f.name)};
    for (const NumberFormat& format : NumberFormats()) {
      if (format.bits > bits) continue;
      const Subject subject = SubjectStrip(engine, f, format.type);
      if (subject)
        task.parts.push_back([&f, &format, subject] { return ProveAllValues(f, format, subject); });
    }
    task.types = Widths("float", std::ssize(task.parts), bits);
    tasks.push_back(std::move(task));
  }
  for (const Function2& f : Functions2()) {
    Task task{.function = std::string(f.name)};
    for (const NumberFormat& format : NumberFormats()) {
      if (format.bits > std::min(bits, kPairBits)) continue;
      const ElementType types[] = {format.type, format.type};
      const Subject subject = SubjectStrip(engine, f.opcode, types, format.type);
      if (subject) task.parts.push_back([&f, &format, subject] { return ProveAllPairs(f, format, subject); });
    }
    task.types = Widths("float", std::ssize(task.parts), std::min(bits, kPairBits));
    tasks.push_back(std::move(task));
  }
}

void AddIntegers(int bits, const std::string& engine, std::vector<Task>& tasks) {
  for (const IntegerFunction& f : IntegerFunctions()) {
    Task task{.function = std::string(Name(f.opcode))};
    for (int t = 0; t < kNumElementTypes; ++t) {
      const ElementType type = static_cast<ElementType>(t);
      if (!IsIntegral(type) || Bits(type) > std::min(bits, kPairBits)) continue;
      const ElementType types[] = {type, type};
      const Subject subject =
          SubjectStrip(engine, f.opcode, std::span(types, static_cast<size_t>(f.operands)), type);
      if (subject) task.parts.push_back([&f, type, subject] { return ProveIntegers(f, type, subject); });
    }
    task.types = Widths("integer", std::ssize(task.parts), std::min(bits, kPairBits));
    tasks.push_back(std::move(task));
  }
}

void AddConversions(int bits, const std::string& engine, std::vector<Task>& tasks) {
  Task task{.function = "convert"};
  int64_t count = 0;
  for (int s = 0; s < kNumElementTypes; ++s) {
    const ElementType from = static_cast<ElementType>(s);
    if (Bits(from) > bits || IsComplex(from)) continue;
    ++count;
    for (int t = 0; t < kNumElementTypes; ++t) {
      const ElementType to = static_cast<ElementType>(t);
      if (Bits(to) > bits || IsComplex(to)) continue;
      const ElementType types[] = {from};
      const Subject subject = SubjectStrip(engine, Opcode::kConvert, types, to);
      if (subject) task.parts.push_back([from, to, subject] { return ProveConversion(from, to, subject); });
    }
  }
  task.types = fmt::format("pairs of {} types to {} bits", count, bits);
  tasks.push_back(std::move(task));
}

}  // namespace

Proof ProveAllValues(const Function1& f, const NumberFormat& format, const Subject& subject) {
  Proof proof{.function = std::string(f.name), .type = std::string(Name(format.type)), .inputs = "all"};
  Oracle oracle;
  Strips strips;
  const int64_t count = int64_t{1} << format.bits;
  for (int64_t begin = 0; begin < count; begin += kStrip) {
    const int64_t n = std::min(kStrip, count - begin);
    for (int64_t i = 0; i < n; ++i) SetPattern(strips.x, i, format.type, begin + i);
    const std::byte* in[] = {strips.x};
    subject(n, in, strips.result);
    for (int64_t i = 0; i < n; ++i) {
      const uint64_t got = PatternAt(strips.result, i, format.type);
      const uint64_t wanted = oracle.Want(f, ValueOf(begin + i, format), format);
      if (got == wanted) continue;
      const std::string x = fmt::format("{} {}", proof.type, Hex(begin + i, format.bits));
      proof.AddWrong(WrongLine(x, got, wanted, format.bits));
    }
  }
  proof.tried = count;
  return proof;
}

Proof ProveAllPairs(const Function2& f, const NumberFormat& format, const Subject& subject) {
  Proof proof{.function = std::string(f.name), .type = std::string(Name(format.type)), .inputs = "all"};
  Oracle oracle;
  Strips strips;
  const int64_t count = int64_t{1} << format.bits;
  static_assert(kStrip >= int64_t{1} << kPairBits);
  for (int64_t i = 0; i < count; ++i) SetPattern(strips.y, i, format.type, i);
  for (int64_t a = 0; a < count; ++a) {
    for (int64_t i = 0; i < count; ++i) SetPattern(strips.x, i, format.type, a);
    const std::byte* in[] = {strips.x, strips.y};
    subject(count, in, strips.result);
    for (int64_t b = 0; b < count; ++b) {
      const uint64_t got = PatternAt(strips.result, b, format.type);
      const uint64_t wanted = oracle.Want(f, ValueOf(a, format), ValueOf(b, format), format);
      if (got == wanted) continue;
      const std::string operands =
          fmt::format("{} {}, {}", proof.type, Hex(a, format.bits), Hex(b, format.bits));
      proof.AddWrong(WrongLine(operands, got, wanted, format.bits));
    }
  }
  proof.tried = count * count;
  return proof;
}

void ProveNarrow(int bits, const std::string& engine, int jobs, Ledger& ledger) {
  std::vector<Task> tasks;
  AddFunctions(bits, engine, tasks);
  AddIntegers(bits, engine, tasks);
  AddConversions(bits, engine, tasks);
  ParallelFor(std::ssize(tasks), jobs, [&](int64_t i) { ledger.Add(Run(tasks[i])); });
}

}  // namespace assay::prove
