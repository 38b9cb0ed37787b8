#include "cpu/kernels/packed_linear.h"

#include <cstring>

#include "cpu/kernels/buffer.h"
#include "cpu/support.h"

namespace onceover::kernels {
namespace {

constexpr WeightFormat formats[] = {WeightFormat::F32, WeightFormat::BF16, WeightFormat::F16,
                                    WeightFormat::Q8, WeightFormat::Q4};

// A packed copy of a random matrix, and the numbers that it stands for.
struct Packed {
  Matrix dense;
  PackedMatrix matrix;
  Buffer bytes;
  Doubles stored;

  Packed(WeightFormat format, int64_t outputs, int64_t inputs)
      : dense(outputs, inputs), matrix{format, outputs, inputs, nullptr}, bytes(matrix.bytes() / 4 + 1) {
    auto* data = reinterpret_cast<std::byte*>(bytes.data());
    pack(dense.view(), matrix, data);
    matrix.data = data;
    std::vector<float> row(static_cast<size_t>(inputs));
    for (int64_t o = 0; o < outputs; ++o) {
      unpack_row(matrix, o, row.data());
      stored.insert(stored.end(), row.begin(), row.end());
    }
  }
};

Doubles product(const Doubles& x, const Doubles& w, size_t inputs) {
  const size_t rows = x.size() / inputs, outputs = w.size() / inputs;
  Doubles y(rows * outputs);
  for (size_t r = 0; r < rows; ++r) {
    for (size_t o = 0; o < outputs; ++o) {
      for (size_t i = 0; i < inputs; ++i) y[r * outputs + o] += x[r * inputs + i] * w[o * inputs + i];
    }
  }
  return y;
}

TEST(PackedMatrix, HoldsEachNumberToTheErrorOfItsFormat) {
  // Of the largest weight of a block: half a step of the format, and of the scale's own rounding.
  const double tolerance[] = {0, 1.0 / 256, 1.0 / 2048, 0.5 / 127 + 1.0 / 2048, 0.6 / 7 + 1.0 / 2048};
  for (const WeightFormat format : formats) {
    const Packed p(format, 37, 75);
    const Doubles dense = p.dense.dense();
    for (size_t o = 0; o < 37; ++o) {
      for (size_t first = 0; first < 75; first += 32) {
        double most = 0;
        for (size_t i = first; i < std::min<size_t>(first + 32, 75); ++i)
          most = std::max(most, std::abs(dense[o * 75 + i]));
        for (size_t i = first; i < std::min<size_t>(first + 32, 75); ++i) {
          const bool cut = format == WeightFormat::Q4 && std::abs(dense[o * 75 + i]) > 0.7 * most;
          ASSERT_NEAR(p.stored[o * 75 + i], dense[o * 75 + i],
                      most * (cut ? 0.2 : tolerance[static_cast<size_t>(format)]))
              << "format " << static_cast<int>(format) << " output " << o << " input " << i;
        }
      }
    }
  }
}

TEST(PackedMatrix, OfFourBitsIsNoWorseThanItsLargestWeightOnTheEnd) {
  double squares = 0, worst = 0;
  const Packed p(WeightFormat::Q4, 64, 64);
  const Doubles dense = p.dense.dense();
  for (size_t first = 0; first < dense.size(); first += 32) {
    double extreme = 0;
    for (size_t i = first; i < first + 32; ++i)
      extreme = std::abs(dense[i]) > std::abs(extreme) ? dense[i] : extreme;
    const double scale = extreme / -8;
    for (size_t i = first; i < first + 32; ++i) {
      const double plain = scale * std::clamp(std::nearbyint(dense[i] / scale), -8.0, 7.0);
      worst += (plain - dense[i]) * (plain - dense[i]);
      squares += (p.stored[i] - dense[i]) * (p.stored[i] - dense[i]);
    }
  }
  EXPECT_LT(squares, 0.97 * worst);
}

TEST(PackedMatrix, PassesOnWhatIsNotFinite) {
  for (const WeightFormat format : formats) {
    Packed p(format, 16, 32);
    p.dense.at(3, 5) = NAN;
    p.dense.at(4, 6) = INFINITY;
    auto* data = reinterpret_cast<std::byte*>(p.bytes.data());
    pack(p.dense.view(), p.matrix, data);
    const Matrix x(1, 32);
    Matrix y(1, 16);
    packed_linear(1, x.view(), p.matrix, y.view());
    EXPECT_FALSE(std::isfinite(y.at(0, 3))) << static_cast<int>(format);
    EXPECT_FALSE(std::isfinite(y.at(0, 4))) << static_cast<int>(format);
    EXPECT_TRUE(std::isfinite(y.at(0, 2))) << static_cast<int>(format);
  }
}

// The numbers of x as a format's products see them, and for each half a step of its rounding.
struct Rounded {
  Doubles values, half_step;
};

Rounded rounded(WeightFormat format, const Matrix& x, int64_t rows, int64_t inputs) {
  Rounded to{Doubles(static_cast<size_t>(rows * inputs)), Doubles(static_cast<size_t>(rows * inputs))};
  PackedRows packed;
  packed.reserve(format, rows, inputs);
  for (int64_t g = 0, row = 0; g < packed.groups(); ++g, row += packed.group_rows()) {
    for (int64_t s = 0, input = 0; s < packed.slices(); ++s) {
      const RowGroup group = packed.group(g, s);
      leaves().pack_group(format, {x.view()[row] + input, x.stride}, group);
      for (int64_t i = 0; i < group.inputs; ++i) {
        for (int64_t r = 0; r < group.rows; ++r) {
          const auto at = static_cast<size_t>((row + r) * inputs + input + i);
          double step = is_quantised(format) ? group.scales[i / block_inputs * group.rows + r] : 0;
          if (format == WeightFormat::Q8) {
            const Four& four = group.fours[i / 4 * group.rows + r];
            EXPECT_LE(std::abs(four.q[i % 4]), 64);
            step *= four.factor[0];
            to.values[at] = step * four.q[i % 4];
          } else if (format == WeightFormat::Q4) {
            to.values[at] = step * group.bytes[(i / 4 * group.rows + r) * 4 + i % 4];
          } else {
            to.values[at] = group.values[i * group.rows + r];
          }
          to.half_step[at] = step / 2;
        }
      }
      input += group.inputs;
    }
  }
  return to;
}

template <class F>
void for_each_shape(F f) {
  for_each_table([&] {
    for (const WeightFormat format : formats) {
      for (const int64_t rows : {1, 2, 3, 4, 5, 6, 7, 13, 65}) {
        for (const int64_t inputs : {int64_t{1}, int64_t{31}, int64_t{32}, int64_t{75}, slice_inputs + 300}) {
          if (inputs > slice_inputs && rows != 1 && rows != 65) continue;
          SCOPED_TRACE(testing::Message()
                       << "format " << static_cast<int>(format) << " rows " << rows << " inputs " << inputs);
          f(format, rows, inputs);
        }
      }
    }
  });
}

TEST(PackedRows, AreWithinHalfAStepOfTheirFormat) {
  for_each_shape([](WeightFormat format, int64_t rows, int64_t inputs) {
    const Matrix x(rows, inputs);
    const Rounded to = rounded(format, x, rows, inputs);
    const Doubles exact = x.dense();
    for (size_t at = 0; at < exact.size(); ++at) {
      const size_t row = at / static_cast<size_t>(inputs) * static_cast<size_t>(inputs), i = at - row;
      ASSERT_NEAR(to.values[at], exact[at], to.half_step[at] * 1.00001);
      // The step is no wider than the largest number beside it asks for.
      const size_t beside = format == WeightFormat::Q8 ? 4 : 32, first = row + i / beside * beside;
      double most = 0, of_block = 0;
      for (size_t j = first; j < std::min(first + beside, row + static_cast<size_t>(inputs)); ++j)
        most = std::max(most, std::abs(exact[j]));
      for (size_t j = row + i / 32 * 32;
           j < std::min(row + i / 32 * 32 + 32, row + static_cast<size_t>(inputs)); ++j)
        of_block = std::max(of_block, std::abs(exact[j]));
      const double least = format == WeightFormat::Q8 ? of_block / 4096 / 64 : 0;
      ASSERT_LE(2 * to.half_step[at], (most / (format == WeightFormat::Q8 ? 64 : 127) + least) * 1.00001);
    }
  });
}

TEST(PackedLinear, EqualsTheDefinitionOnTheStoredNumbers) {
  for_each_shape([](WeightFormat format, int64_t rows, int64_t inputs) {
    const int64_t outputs = inputs > slice_inputs ? 150 : 37;
    const Packed w(format, outputs, inputs);
    const Matrix x(rows, inputs);
    Matrix y(rows, outputs);
    packed_linear(rows, x.view(), w.matrix, y.view());
    const Rounded to = rounded(format, x, rows, inputs);
    EXPECT_CLOSE(y.dense(), product(to.values, w.stored, static_cast<size_t>(inputs)), 1e-5);
  });
}

// The largest sums that the integers of a block can have.
TEST(PackedLinear, AddsTheLargestNumbersOfItsFormat) {
  for_each_table([] {
    for (const WeightFormat format : {WeightFormat::Q8, WeightFormat::Q4}) {
      Packed w(format, 16, 32);
      for (const float sign : {1.0F, -1.0F}) {
        for (int64_t o = 0; o < 16; ++o) std::fill_n(w.dense.view()[o], 32, o % 2 ? 1.0F : -1.0F);
        pack(w.dense.view(), w.matrix, reinterpret_cast<std::byte*>(w.bytes.data()));
        Matrix x(7, 32), y(7, 16);
        for (int64_t r = 0; r < 7; ++r) std::fill_n(x.view()[r], 32, sign);
        packed_linear(7, x.view(), w.matrix, y.view());
        std::vector<float> row(32);
        for (int64_t o = 0; o < 16; ++o) {
          unpack_row(w.matrix, o, row.data());
          for (int64_t r = 0; r < 7; ++r) EXPECT_NEAR(y.at(r, o), sign * row[0] * 32, 1e-4) << o;
        }
      }
    }
  });
}

// Batch mates, chunks of a prompt and threads change nothing, to the bit.
TEST(PackedLinear, GivesARowTheSameNumbersInAnyCompany) {
  constexpr int64_t inputs = 2 * slice_inputs + 90;
  for_each_table([] {
    for (const WeightFormat format : formats) {
      const Packed w(format, 210, inputs);
      const Matrix x(40, inputs);
      Matrix all(40, 210), alone(40, 210);
      packed_linear(40, x.view(), w.matrix, all.view());
      int64_t first = 0;
      for (const int64_t rows : {1, 2, 3, 4, 5, 6, 7, 12}) {
        const Output to{alone.view()[first], alone.stride};
        packed_linear(rows, {x.view()[first], x.stride}, w.matrix, to);
        first += rows;
      }
      EXPECT_EQ(all.dense(), alone.dense()) << "format " << static_cast<int>(format);
    }
  });
}

TEST(PackedLinear, ShowsAValueThatIsNotFinite) {
  for_each_table([] {
    for (const WeightFormat format : formats) {
      for (const float bad : {NAN, INFINITY, -INFINITY}) {
        const Packed w(format, 20, 40);
        Matrix x(9, 40), y(9, 20);
        x.at(7, 33) = bad;
        packed_linear(9, x.view(), w.matrix, y.view());
        for (int64_t o = 0; o < 20; ++o) {
          // A weight of 0 may hide an infinity in the formats of floats, but not a NaN.
          if (is_quantised(format) || std::isnan(bad)) {
            EXPECT_FALSE(std::isfinite(y.at(7, o)));
          }
          EXPECT_TRUE(std::isfinite(y.at(6, o)));
        }
      }
    }
  });
}

TEST(PackedLinear, KeepsAnOutlierFromTheOtherBlocks) {
  Packed w(WeightFormat::Q8, 32, 64);
  for (int64_t o = 0; o < 32; ++o) std::fill_n(w.dense.view()[o], 32, 0.0F);
  pack(w.dense.view(), w.matrix, reinterpret_cast<std::byte*>(w.bytes.data()));
  Matrix x(1, 64), plain(1, 32), y(1, 32);
  packed_linear(1, x.view(), w.matrix, plain.view());
  x.at(0, 3) = 1e4F;  // among inputs that have no weight
  packed_linear(1, x.view(), w.matrix, y.view());
  EXPECT_EQ(y.dense(), plain.dense());
}

}  // namespace
}  // namespace onceover::kernels
