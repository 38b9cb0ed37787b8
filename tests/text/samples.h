// Text to try tokenisers on.
#pragma once
#include <random>
#include <string>
#include <vector>

#include "support/fresh_seed.h"

namespace onceover {

// "All human beings are born free", or a greeting, in thirty scripts.
inline const std::vector<std::string>& thirty_scripts() {
  static const std::vector<std::string> lines = {
      "All human beings are born free and equal in dignity and rights.",  // Latin
      "Все люди рождаются свободными и равными.",                         // Cyrillic
      "Όλοι οι άνθρωποι γεννιούνται ελεύθεροι.",                          // Greek
      "Բոլոր մարդիկ ծնվում են ազատ։",                                     // Armenian
      "ყველა ადამიანი იბადება თავისუფალი",                                // Georgian
      "כל בני האדם נולדו בני חורין",                                      // Hebrew
      "يولد جميع الناس أحراراً",                                           // Arabic
      "ܟܠ ܒܪܢܫܐ ܒܪܝܠܗ ܚܐܪܐ",                                              // Syriac
      "ހުރިހާ އިންސާނުން",                                                        // Thaana
      "सभी मनुष्यों को गौरव",                                                // Devanagari
      "সমস্ত মানুষ স্বাধীনভাবে",                                             // Bengali
      "ਸਾਰਾ ਮਨੁੱਖੀ ਪਰਿਵਾਰ",                                                 // Gurmukhi
      "પ્રતિષ્ઠા અને અધિકારો",                                               // Gujarati
      "ସବୁ ମନୁଷ୍ୟ ଜନ୍ମକାଳରୁ",                                                  // Oriya
      "மனிதப் பிறிவியினர்",                                                 // Tamil
      "ప్రతిపత్తిస్వత్వముల",                                                    // Telugu
      "ಎಲ್ಲಾ ಮಾನವರೂ",                                                      // Kannada
      "മനുഷ്യരെല്ലാവരും",                                                     // Malayalam
      "සියලු මනුෂ්‍යයෝ",                      // Sinhala, with a joiner
      "มนุษย์ทั้งหลายเกิดมา",                                                  // Thai
      "ມະນຸດເກີດມາມີສິດ",                                                     // Lao
      "འགྲོ་བ་མིའི་རིགས་",                                                     // Tibetan
      "လူတိုင်းသည်",                                                           // Myanmar
      "የሰው ልጅ ሁሉ",                                                        // Ethiopic
      "ᏂᎦᏓ ᎠᏂᏴᏫ",                                                         // Cherokee
      "ᑭᒃᑯᑐᐃᓐᓇᐃᑦ",                                                        // Canadian syllabics
      "មនុស្សទាំងអស់",                                                        // Khmer
      "ᠬᠦᠮᠦᠨ ᠪᠦᠷ",                                                        // Mongolian
      "人人生而自由，在尊严和权利上一律平等。",                           // Han
      "すべての人間は、生まれながら 모든 인간은 태어날",                  // Kana, Hangul
      "𐌰𐌻𐌻𐌰𐌹 𝔘𝔫𝔦𝔠𝔬𝔡𝔢 👩‍👩‍👧‍👦 🇫🇷 ✅ "
      "e\u0301",  // beyond the basic plane, joined emoji
  };
  return lines;
}

inline std::string random_bytes(std::mt19937& random, size_t count) {
  std::string bytes(count, '\0');
  for (char& c : bytes) c = static_cast<char>(random() & 0xFF);
  return bytes;
}

// Half text, half noise: words, runs of spaces, newlines and tabs, broken characters, and what SentencePiece
// reserves.
inline std::string random_text(std::mt19937& random, int parts) {
  static const std::vector<std::string> odd = {
      "\xE2\x96\x81", "\xE2\x96\x85", "<s>",  "</s>", "<0x41>",       "\xC0\x80",    "\xED\xA0\x80",
      "\xF4\x90",     "\xE2",         "\t\t", "\r\n", "\xEF\xBF\xBD", "\xEF\xBB\xBF"};
  std::string text;
  for (int i = 0; i < parts; i++) {
    switch (random() % 6) {
      case 0:
        text += std::string(random() % 9, ' ');
        break;
      case 1:
        text += std::string(random() % 4, '\n');
        break;
      case 2:
        text += odd[random() % odd.size()];
        break;
      case 3:
        text += random_bytes(random, random() % 5);
        break;
      default: {
        const std::string& line = thirty_scripts()[random() % thirty_scripts().size()];
        text += line.substr(random() % line.size(), random() % 20);
      }
    }
  }
  return text;
}

}  // namespace onceover
