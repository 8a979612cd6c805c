// A comparison of a backend with what a correct one may return,
// as one page of HTML that needs nothing else (docs/bounds.md).
#ifndef ASSAY_CHECK_REPORT_REPORT_H_
#define ASSAY_CHECK_REPORT_REPORT_H_

#include <optional>
#include <string>
#include <vector>

#include "check/conformance.h"
#include "check/isolate/isolation.h"
#include "check/report/element_picture.h"
#include "check/report/graph_section.h"
#include "check/why/reason.h"

namespace assay {

// One output, judged, and how its elements lie in their bounds.
struct ReportedOutput {
  Conformance judged;
  std::string shape;
  std::optional<ElementPicture> picture;  // none where there was nothing to compare
};
ReportedOutput JudgeForReport(const BoundedOutput& output, const Literal* actual);

// What the comparison was, in the words of who asked for it.
struct ReportHeader {
  std::string program;  // its file
  std::string inputs, actual;
  std::string engine, command, version;
};

// What an element is made of: lines of a tree.
struct ReportedOrigin {
  struct Line {
    size_t depth = 0;  // at most one more than that of the line before
    std::string text;
  };
  std::string element;  // "out0[3,7]"
  std::vector<Line> lines;
  std::vector<std::string> notes;
};

struct ReportedComparison {
  const ReportHeader& header;
  const Module& module;
  const Profile& profile;
  const std::vector<ReportedOutput>& outputs;
  const std::vector<DerivedBounds::Note>& notes;
  const std::vector<Reason>& reasons;
  const Isolation* isolation = nullptr;
  const std::vector<ReportedOrigin>* origins = nullptr;  // of wrong elements; null: nobody has asked
};

// The page holds no time and no place of a file but those of the header: the same comparison gives the same
// bytes. Errors are PollWork's, and LimitExceeded for memory.
absl::StatusOr<std::string> HtmlReport(const ReportedComparison& comparison, const GraphLimits& limits = {});

}  // namespace assay

#endif  // ASSAY_CHECK_REPORT_REPORT_H_
