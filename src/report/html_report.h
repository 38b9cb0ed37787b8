// One HTML page that needs nothing else: no script, no font, no image from outside (and a policy in it that
// forbids them).
//
// Follows the reader's light or dark scheme; plots are drawn twice, for wide and for narrow windows, so that
// their text is readable on a phone. Everything given is escaped. Parts appear in the order of the calls;
// neighbouring plots share a row where there is room.
#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "report/plot.h"

namespace onceover {

class HtmlReport {
 public:
  using Pairs = std::vector<std::pair<std::string, std::string>>;

  explicit HtmlReport(std::string_view title, std::string_view subtitle = {});

  void heading(std::string_view text);
  void paragraph(std::string_view text);
  // Key numbers in large type: name, value.
  void figures(const Pairs& figures);
  void plot(const Plot& plot, std::string_view caption = {});
  // The first row is the header.
  void table(const std::vector<std::vector<std::string>>& rows, std::string_view caption = {});
  // A block that opens on a click, "How this was made": facts (version, command, seed), then the exact
  // configuration.
  void made_by(const Pairs& facts, std::string_view config);

  std::string html() const;
  // Replaces the file in one step; its folder must exist.
  void save(const std::string& path) const;

 private:
  void add(std::string_view part);

  std::string title_, subtitle_, body_;
  bool in_plots_ = false;
};

}  // namespace onceover
