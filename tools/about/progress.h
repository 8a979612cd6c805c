// Work that takes longer than a second is shown on standard error while it lasts, if that is a terminal: one
// line, rewritten a few times a second and removed before anything else is written.
#ifndef ASSAY_TOOLS_ABOUT_PROGRESS_H_
#define ASSAY_TOOLS_ABOUT_PROGRESS_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace assay::cli {

// From now on; nothing is shown before. `quiet`, a stream that is no terminal, and TERM=dumb: never.
void StartProgress(bool quiet);
// What is done now (base/work_stage.h); an empty `what` is nothing that can be counted.
void ShowStage(std::string_view what, int64_t done, int64_t total);
// The same in words, in place of stages from now on: "12 programs, 1 finding".
void ShowWords(const std::string& words);
// The time has gone on. To be called often, from any thread.
void TickProgress();
// Removes the line: before something is written.
void ClearProgress();
// What removes it, for a handler of signals; empty where there is no line.
const char* ClearingBytes();

// "samples [#####---------------] 4 of 16, 3.2 s, 9 s left"; `columns` is the width of the terminal.
// `stage_seconds` is how long the stage takes so far.
std::string ProgressText(std::string_view what, int64_t done, int64_t total, double seconds,
                         double stage_seconds, size_t columns);

}  // namespace assay::cli

#endif  // ASSAY_TOOLS_ABOUT_PROGRESS_H_
