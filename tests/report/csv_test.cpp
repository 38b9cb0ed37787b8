#include "report/csv.h"

#include <gtest/gtest.h>

namespace onceover {
namespace {

TEST(Csv, QuotesWhatRfc4180Asks) {
  EXPECT_EQ(csv_line({"plain", "a,b", "say \"hi\"", "two\nlines", "", " spaced "}),
            "plain,\"a,b\",\"say \"\"hi\"\"\",\"two\nlines\",, spaced \r\n");
  EXPECT_EQ(csv_line({"cr\rhere"}), "\"cr\rhere\"\r\n");
  EXPECT_EQ(csv_line({}), "\r\n");
}

}  // namespace
}  // namespace onceover
