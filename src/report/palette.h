// The looks of a plot's series: entry i of a theme, taken round the list.
#pragma once
#include <array>

namespace onceover {

constexpr const char* light_paper = "#ffffff";
constexpr const char* dark_paper = "#14171c";
// Blue, vermilion, green, purple, brown or yellow, sky, grey: after Okabe and Ito, each theme moved to keep
// its contrast.
constexpr std::array<const char*, 7> light_colours{"#0068b0", "#d55e00", "#00906a", "#b8408f",
                                                   "#7d5a00", "#3a94d8", "#4a4a4a"};
constexpr std::array<const char*, 7> dark_colours{"#56b4e9", "#f07a30", "#17a57a", "#e08fc4",
                                                  "#f5d04e", "#4a7fe0", "#d5dae2"};
// Dash lengths in pixels; five against seven colours, so that 35 series differ.
constexpr std::array<const char*, 5> dashes{"", "7 4", "2 4", "9 3 2 3", "14 4"};
// Marker outlines around the current point, about 7 pixels wide.
constexpr std::array<const char*, 5> markers{"m-3.5 0a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0 -7 0z",
                                             "m-3.1 -3.1h6.2v6.2h-6.2z", "m0 -4.2l4 7h-8z",
                                             "m0 -4.4l4.2 4.4l-4.2 4.4l-4.2 -4.4z", "m0 4.2l4 -7h-8z"};

}  // namespace onceover
