#include "report/csv.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

namespace onceover {
namespace {

TEST(Csv, QuotesWhatRfc4180Asks) {
  EXPECT_EQ(csv_line({"plain", "a,b", "say \"hi\"", "two\nlines", "", " spaced "}),
            "plain,\"a,b\",\"say \"\"hi\"\"\",\"two\nlines\",, spaced \r\n");
  EXPECT_EQ(csv_line({"cr\rhere"}), "\"cr\rhere\"\r\n");
  EXPECT_EQ(csv_line({}), "\r\n");
}

TEST(Csv, NumbersReadBackExactly) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE(seed);
  std::mt19937_64 random(seed);
  for (int i = 0; i < 200; i++) {
    const double value = std::ldexp(static_cast<double>(random()), static_cast<int>(random() % 200) - 150);
    EXPECT_EQ(std::stod(csv_number(value)), value);
  }
  EXPECT_EQ(csv_number(std::numeric_limits<double>::infinity()), "");
  EXPECT_EQ(csv_number(std::nan("")), "");
}

TEST(Csv, RecordsShareOneHeaderAndLeaveGaps) {
  Record first, second;
  first.step = 1;
  first.loss = std::nan("");
  second.step = 2;
  second.validation = Validation{2.5, 0.75};
  second.extra["a,b"] = 4;
  EXPECT_EQ(records_csv({first, second}),
            "step,tokens,memory_bytes,flops,wall_seconds,loss,learning_rate,grad_norm,tokens_per_second,mfu,"
            "validation_loss,bits_per_byte,\"a,b\"\r\n"
            "1,0,0,0,0,,0,0,0,0,,,\r\n"
            "2,0,0,0,0,0,0,0,0,0,2.5,0.75,4\r\n");
}

}  // namespace
}  // namespace onceover
