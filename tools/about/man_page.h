// The manual page assay(1), in roff.
#ifndef ASSAY_TOOLS_ABOUT_MAN_PAGE_H_
#define ASSAY_TOOLS_ABOUT_MAN_PAGE_H_

#include <span>
#include <string>
#include <string_view>

#include "tools/about/app_text.h"
#include "tools/about/topics.h"

namespace assay::cli {

std::string ManPage(std::span<const CommandText> commands, std::span<const Topic> topics,
                    std::string_view version);

}  // namespace assay::cli

#endif  // ASSAY_TOOLS_ABOUT_MAN_PAGE_H_
