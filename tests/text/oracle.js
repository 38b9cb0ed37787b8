// Ids of texts by Hugging Face's own library: node oracle.js TOKENIZER.json TEXTS.json
//
// TEXTS.json is a list of strings, without names of special tokens; prints the list of their ids. Needs the npm
// package "tokenizers".
"use strict";
const fs = require("fs");
const { Tokenizer } = require("tokenizers");

async function main() {
  const tokenizer = Tokenizer.fromFile(process.argv[2]);
  const ids = [];
  for (const text of JSON.parse(fs.readFileSync(process.argv[3], "utf8"))) {
    const encoding = await tokenizer.encode(text, null, { addSpecialTokens: false });
    ids.push(encoding.getIds());
  }
  fs.writeSync(1, JSON.stringify(ids) + "\n");
}

main();
