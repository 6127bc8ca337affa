//===- Plots.cpp - pictures for a page ------------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/study/report/Plots.h"

#include "llvm/Support/JSON.h"

#include <algorithm>
#include <cmath>

using namespace ingot;
using namespace ingot::study;

std::string ingot::study::escapeHtml(const std::string &text) {
  std::string escaped;
  for (char c : llvm::json::fixUTF8(text)) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '&')
      escaped += "&amp;";
    else if (c == '<')
      escaped += "&lt;";
    else if (c == '>')
      escaped += "&gt;";
    else if (c == '"')
      escaped += "&quot;";
    else if (c == '\'')
      escaped += "&#39;";
    else if (byte < 0x20 || byte == 0x7f)
      escaped += "\xef\xbf\xbd";
    else
      escaped += c;
  }
  return escaped;
}

static std::string number(double value) {
  char text[40];
  snprintf(text, sizeof(text), "%.1f", value);
  return text;
}

static std::string shown(double value) {
  char text[40];
  snprintf(text, sizeof(text), "%.4g", value);
  return text;
}

std::string ingot::study::plotHistogram(const quantize::Histogram &histogram,
                                        double low, double high) {
  constexpr int kBars = 96;
  constexpr double kWidth = 480, kTop = 8, kBottom = 110;
  const double least = std::min(double(histogram.min()), low),
               most = std::max(double(histogram.max()), high);
  const double span = most > least ? most - least : 1;
  std::vector<double> counts(kBars);
  histogram.forEachBin([&](double from, double to, uint64_t count) {
    const int bar = int(((from + to) / 2 - least) / span * kBars);
    counts[size_t(std::clamp(bar, 0, kBars - 1))] += double(count);
  });
  double largest = 1;
  for (double &count : counts)
    largest = std::max(largest, count = std::log10(1 + count));
  auto x = [&](double value) { return (value - least) / span * kWidth; };
  std::string svg = "<svg viewBox=\"0 0 480 130\" role=\"img\" "
                    "aria-label=\"histogram\">";
  // The range that bytes can represent, behind the bars.
  svg += "<rect class=\"held\" x=\"" + number(x(low)) + "\" y=\"" +
         number(kTop) + "\" width=\"" + number(x(high) - x(low)) +
         "\" height=\"" + number(kBottom - kTop) + "\"/>";
  for (int i = 0; i < kBars; ++i) {
    if (counts[size_t(i)] == 0)
      continue;
    const double height = counts[size_t(i)] / largest * (kBottom - kTop);
    const double middle = least + (i + 0.5) / kBars * span;
    svg += std::string("<rect class=\"") +
           (middle < low || middle > high ? "cut" : "bar") + "\" x=\"" +
           number(i * kWidth / kBars) + "\" y=\"" + number(kBottom - height) +
           "\" width=\"" + number(kWidth / kBars - 0.6) + "\" height=\"" +
           number(height) + "\"/>";
  }
  svg += "<line class=\"axis\" x1=\"0\" x2=\"480\" y1=\"110\" y2=\"110\"/>";
  svg += "<text x=\"0\" y=\"126\">" + shown(least) + "</text>";
  if (least < 0 && most > 0)
    svg += "<text x=\"" + number(std::clamp(x(0), 70.0, 410.0)) +
           "\" y=\"126\" text-anchor=\"middle\">0</text>";
  svg += "<text x=\"" + number(kWidth) + "\" y=\"126\" text-anchor=\"end\">" +
         shown(most) + "</text>";
  return svg + "</svg>";
}
