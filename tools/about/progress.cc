#include "tools/about/progress.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <mutex>

#include "fmt/format.h"

namespace assay::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kFirst = 1, kBetween = 0.2;  // seconds
constexpr size_t kBar = 20;
constexpr char kClear[] = "\r\033[K";

struct State {
  std::mutex mutex;
  bool is_on = false;
  Clock::time_point start, stage_start, drawn;
  std::string what, words;
  int64_t done = 0, total = 0;
};

State& Progress() {
  static auto* const state = new State();
  return *state;
}

std::atomic<bool> has_line{false};

double Since(Clock::time_point start, Clock::time_point now) {
  return std::chrono::duration<double>(now - start).count();
}

size_t Columns() {
  winsize size = {};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col < 20) return 80;
  return size.ws_col;
}

// Of one who holds the mutex.
void Draw(State& state) {
  const Clock::time_point now = Clock::now();
  if (Since(state.start, now) < kFirst || Since(state.drawn, now) < kBetween) return;
  state.drawn = now;
  const std::string text = state.words.empty()
                               ? ProgressText(state.what, state.done, state.total, Since(state.start, now),
                                              Since(state.stage_start, now), Columns())
                               : state.words.substr(0, Columns() - 1);
  has_line = true;
  std::fprintf(stderr, "%s%s", kClear, text.c_str());
  std::fflush(stderr);
}

bool IsTerminal() {
  const char* const term = std::getenv("TERM");
  return isatty(STDERR_FILENO) != 0 && (term == nullptr || std::string_view(term) != "dumb");
}

}  // namespace

std::string ProgressText(std::string_view what, int64_t done, int64_t total, double seconds,
                         double stage_seconds, size_t columns) {
  constexpr double kKnown = 2;  // seconds after which the speed is known
  std::string text = what.empty() ? "working" : std::string(what);
  if (total > 0) {
    const double share = std::clamp(static_cast<double>(done) / static_cast<double>(total), 0.0, 1.0);
    const auto full = static_cast<size_t>(share * kBar);
    text +=
        fmt::format(" [{}{}] {} of {}", std::string(full, '#'), std::string(kBar - full, '-'), done, total);
  }
  text += fmt::format(", {:.1f} s", seconds);
  if (total > 0 && done > 0 && stage_seconds > kKnown)
    text += fmt::format(", {:.0f} s left",
                        stage_seconds * static_cast<double>(total - done) / static_cast<double>(done));
  return text.substr(0, columns - 1);
}

void StartProgress(bool quiet) {
  State& state = Progress();
  const std::lock_guard lock(state.mutex);
  state.is_on = !quiet && IsTerminal();
  state.start = state.stage_start = Clock::now();
}

void ShowStage(std::string_view what, int64_t done, int64_t total) {
  State& state = Progress();
  if (!state.is_on) return;
  const std::lock_guard lock(state.mutex);
  if (what != state.what) state.stage_start = Clock::now();
  state.what = what;
  state.done = done;
  state.total = total;
  Draw(state);
}

void ShowWords(const std::string& words) {
  State& state = Progress();
  if (!state.is_on) return;
  const std::lock_guard lock(state.mutex);
  state.words = words;
  Draw(state);
}

void TickProgress() {
  State& state = Progress();
  if (!state.is_on) return;
  const std::lock_guard lock(state.mutex);
  Draw(state);
}

void ClearProgress() {
  if (!has_line.exchange(false)) return;
  std::fputs(kClear, stderr);
  std::fflush(stderr);
}

const char* ClearingBytes() { return has_line ? kClear : ""; }

}  // namespace assay::cli
