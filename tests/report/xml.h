// A strict little XML reader for tests: refuses unbalanced tags, unquoted attributes, repeated attributes,
// stray < and &, and characters XML 1.0 forbids. Knows no DTD, comment or CDATA: what we write has none.
#pragma once
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace onceover {

struct Element {
  std::string name;
  std::map<std::string, std::string> attributes;
  std::string text;  // its own, entities resolved
};

class XmlReader {
 public:
  explicit XmlReader(std::string text) : text_(std::move(text)) {}

  // All elements in the order of their start tags.
  std::vector<Element> read() {
    while (at_ < text_.size()) {
      if (text_[at_] == '<') {
        text_[at_ + 1] == '/' ? close() : open();
      } else {
        const std::string piece = characters('<');
        if (!stack_.empty()) elements_[stack_.back()].text += piece;
        if (stack_.empty() && piece.find_first_not_of(" \n") != std::string::npos)
          fail("text outside the root");
      }
    }
    if (!stack_.empty()) fail("an element is not closed");
    return elements_;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw std::runtime_error(what + " at " + std::to_string(at_) + ": " +
                             text_.substr(at_ > 40 ? at_ - 40 : 0, 80));
  }

  char next() {
    if (at_ >= text_.size()) fail("unexpected end");
    return text_[at_++];
  }

  void expect(char c) {
    if (next() != c) fail(std::string("expected ") + c);
  }

  std::string name() {
    std::string name;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) || text_[at_] == '-'))
      name += text_[at_++];
    if (name.empty()) fail("expected a name");
    return name;
  }

  std::string characters(char end) {
    static const std::map<std::string, std::string> entities{
        {"amp", "&"}, {"lt", "<"}, {"gt", ">"}, {"quot", "\""}, {"#39", "'"}};
    std::string piece;
    while (at_ < text_.size() && text_[at_] != end) {
      const char c = next();
      if (c == '<') fail("stray <");
      if (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t') fail("a control character");
      if (c != '&') {
        piece += c;
        continue;
      }
      const size_t semicolon = text_.find(';', at_);
      const auto found = entities.find(text_.substr(at_, semicolon - at_));
      if (semicolon == std::string::npos || found == entities.end()) fail("stray &");
      piece += found->second;
      at_ = semicolon + 1;
    }
    return piece;
  }

  void open() {
    expect('<');
    Element element{name(), {}, ""};
    while (at_ < text_.size() && text_[at_] == ' ') {
      at_++;
      const std::string key = name();
      expect('=');
      expect('"');
      if (!element.attributes.emplace(key, characters('"')).second) fail("a repeated attribute");
      expect('"');
    }
    const bool empty = text_[at_] == '/';
    if (empty) at_++;
    expect('>');
    if (stack_.empty() && !elements_.empty()) fail("a second root");
    elements_.push_back(element);
    if (!empty) stack_.push_back(elements_.size() - 1);
  }

  void close() {
    expect('<');
    expect('/');
    if (stack_.empty() || name() != elements_[stack_.back()].name) fail("a wrong end tag");
    stack_.pop_back();
    expect('>');
  }

  std::string text_;
  size_t at_ = 0;
  std::vector<Element> elements_;
  std::vector<size_t> stack_;
};

}  // namespace onceover
