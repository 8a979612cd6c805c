// The text of a page while it is written, counted against the limit of memory.
#ifndef ASSAY_CHECK_REPORT_PAGE_TEXT_H_
#define ASSAY_CHECK_REPORT_PAGE_TEXT_H_

#include <memory>
#include <string>
#include <utility>

#include "base/memory_budget.h"
#include "base/run_guard.h"

namespace assay {

class PageText {
 public:
  PageText() : budget_(BudgetScope::Current()) {}
  ~PageText() {
    if (budget_ != nullptr) budget_->Release(counted_);
  }
  PageText(const PageText&) = delete;
  PageText& operator=(const PageText&) = delete;

  PageText& operator+=(std::string_view more) {
    text_ += more;
    return *this;
  }
  // To be called now and then: time, interruption, and what the text has become.
  absl::Status Poll() {
    const auto more = static_cast<int64_t>(text_.capacity()) - counted_;
    if (more > 0 && budget_ != nullptr) {
      if (!budget_->Reserve(more)) return budget_->Refusal("the report", more);
      counted_ += more;
    }
    return PollWork();
  }
  std::string Take() && { return std::move(text_); }

 private:
  const std::shared_ptr<MemoryBudget> budget_;
  int64_t counted_ = 0;
  std::string text_;
};

}  // namespace assay

#endif  // ASSAY_CHECK_REPORT_PAGE_TEXT_H_
