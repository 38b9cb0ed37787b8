#include "report/html_report.h"

#include <fmt/format.h>

#include "base/atomic_file.h"
#include "report/markup.h"

namespace onceover {
namespace {

constexpr PlotSize wide{640, 380}, narrow{360, 300};

constexpr const char* page_css =
    R"(:root{color-scheme:light dark;--ink:#1b1f24;--soft:#59616b;--page:#f5f6f8;--card:#fff;--rule:#dfe3e8}
*{box-sizing:border-box}
body{margin:0;background:var(--page);color:var(--ink);
font:15px/1.55 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif}
main{max-width:1240px;margin:0 auto;padding:28px 24px 48px}
h1{font-size:25px;line-height:1.25;margin:0 0 4px;overflow-wrap:anywhere}
h2{font-size:18px;margin:34px 0 12px;overflow-wrap:anywhere}
p{max-width:75ch;margin:8px 0;overflow-wrap:anywhere}
.subtitle,figcaption,caption,dt{color:var(--soft)}
.subtitle{margin:0 0 18px}
.figures{display:grid;grid-template-columns:repeat(auto-fit,minmax(132px,1fr));margin:16px 0;padding:0;
background:var(--card);border:1px solid var(--rule);border-radius:8px;overflow:hidden}
.figures div{padding:10px 12px;box-shadow:1px 1px 0 var(--rule)}
.figures dt{font-size:12.5px}
.figures dd{margin:0;font-size:19px;font-weight:600;font-variant-numeric:tabular-nums;overflow-wrap:anywhere}
.plots{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,440px),1fr));gap:16px;margin:14px 0}
figure{margin:0;padding:6px;background:var(--card);border:1px solid var(--rule);border-radius:8px;min-width:0}
figure svg.plot{display:block;width:100%;height:auto}
figure .narrow{display:none}
figcaption{font-size:13.5px;padding:2px 10px 8px}
.scroll{overflow-x:auto;margin:14px 0;background:var(--card);border:1px solid var(--rule);border-radius:8px}
table{border-collapse:collapse;width:100%;font-size:14px}
caption{text-align:left;padding:10px 14px 4px;font-size:13.5px}
th,td{padding:7px 14px;text-align:left;border-top:1px solid var(--rule);white-space:nowrap}
thead th{border-top:0;font-weight:600}
.number{text-align:right;font-variant-numeric:tabular-nums}
details{margin:28px 0 0;background:var(--card);border:1px solid var(--rule);border-radius:8px}
summary{cursor:pointer;padding:10px 14px;font-weight:600}
details .scroll,details pre{margin:0;border:0;border-top:1px solid var(--rule);border-radius:0}
pre{overflow-x:auto;padding:12px 14px;font:12.5px/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace}
@media (max-width:560px){main{padding:18px 12px 32px}h1{font-size:21px}
figure .wide{display:none}figure .narrow{display:block}th,td{padding:6px 10px}.figures dd{font-size:18px}}
@media (prefers-color-scheme:dark){:root{--ink:#e4e8ee;--soft:#9aa3ae;--page:#0d1014;--card:#14171c;--rule:#2a2f37}}
@media print{body{background:none}figure,.scroll,.figures{break-inside:avoid}}
)";

std::string paired_table(const HtmlReport::Pairs& pairs) {
  std::string table = "<div class=\"scroll\"><table>\n";
  for (const auto& [name, value] : pairs) {
    table += fmt::format("<tr><th scope=\"row\">{}</th><td>{}</td></tr>\n", escape_markup(name),
                         escape_markup(value));
  }
  return table + "</table></div>\n";
}

}  // namespace

HtmlReport::HtmlReport(std::string_view title, std::string_view subtitle)
    : title_(escape_markup(title)), subtitle_(escape_markup(subtitle)) {}

void HtmlReport::heading(std::string_view text) { add("<h2>" + escape_markup(text) + "</h2>\n"); }

void HtmlReport::paragraph(std::string_view text) { add("<p>" + escape_markup(text) + "</p>\n"); }

void HtmlReport::figures(const Pairs& figures) {
  std::string list = "<dl class=\"figures\">\n";
  for (const auto& [name, value] : figures) {
    list += fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n", escape_markup(name), escape_markup(value));
  }
  add(list + "</dl>\n");
}

void HtmlReport::plot(const Plot& plot, std::string_view caption) {
  const std::string drawn = "<div class=\"wide\">" + svg_element(plot, wide) +
                            "</div>\n<div class=\"narrow\">" + svg_element(plot, narrow) + "</div>\n";
  const std::string note = caption.empty() ? "" : "<figcaption>" + escape_markup(caption) + "</figcaption>\n";
  if (!in_plots_) body_ += "<div class=\"plots\">\n";
  in_plots_ = true;
  body_ += "<figure>\n" + drawn + note + "</figure>\n";
}

void HtmlReport::table(const std::vector<std::vector<std::string>>& rows, std::string_view caption) {
  add("<div class=\"scroll\">" + html_table(rows, caption) + "</div>\n");
}

void HtmlReport::made_by(const Pairs& facts, std::string_view config) {
  add("<details>\n<summary>How this was made</summary>\n" + (facts.empty() ? "" : paired_table(facts)) +
      "<pre>" + escape_markup(config) + "</pre>\n</details>\n");
}

void HtmlReport::add(std::string_view part) {
  if (in_plots_) body_ += "</div>\n";
  in_plots_ = false;
  body_ += part;
}

std::string HtmlReport::html() const {
  std::string page =
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
      "'unsafe-inline'\">\n"
      "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n";
  page += "<title>" + title_ + "</title>\n<style>\n" + page_css + plot_css() +
          "</style>\n</head>\n<body>\n<main>\n";
  page += "<h1>" + title_ + "</h1>\n";
  if (!subtitle_.empty()) page += "<p class=\"subtitle\">" + subtitle_ + "</p>\n";
  return page + body_ + (in_plots_ ? "</div>\n" : "") + "</main>\n</body>\n</html>\n";
}

void HtmlReport::save(const std::string& path) const { write_text_file(path, html()); }

}  // namespace onceover
