"""Renders templates with Python's Jinja, set up as Hugging Face's libraries do.

Reads a JSON list of {"template", "context"} from the file named first; prints a JSON list of {"text"} or
{"error"}. With --update, writes what it found as "expected" into the file instead.
"""
import datetime
import functools
import json
import sys

import jinja2.ext
import jinja2.sandbox
from jinja2 import nodes

NOW = datetime.datetime(2026, 3, 5, 17, 4, 9)


class Generation(jinja2.ext.Extension):
    tags = {"generation"}

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
        return nodes.CallBlock(self.call_method("_support"), [], [], body).set_lineno(line)

    def _support(self, caller):
        return caller()


def tojson(x, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
    return json.dumps(x, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


def raise_exception(message):
    raise jinja2.exceptions.TemplateError(message)


def environment():
    made = jinja2.sandbox.ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[Generation, jinja2.ext.loopcontrols])
    made.filters["tojson"] = tojson
    made.globals["raise_exception"] = raise_exception
    made.globals["strftime_now"] = NOW.strftime
    return made


ENVIRONMENT = environment()


@functools.lru_cache(maxsize=None)
def parsed(source):
    return ENVIRONMENT.from_string(source)


def render(case):
    try:
        return {"text": parsed(case["template"]).render(**case["context"])}
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"}


def main():
    path = sys.argv[1]
    with open(path, encoding="utf-8") as file:
        cases = json.load(file)
    found = [render(case) for case in cases]
    if "--update" not in sys.argv:
        return print(json.dumps(found))
    for case, result in zip(cases, found):
        case["expected"] = result
    with open(path, "w", encoding="utf-8") as file:
        file.write("[\n" + ",\n".join(json.dumps(case, ensure_ascii=False) for case in cases) + "\n]\n")


main()
