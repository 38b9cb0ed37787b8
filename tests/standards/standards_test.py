"""Each rule of this folder finds a breach planted in a small repository, and is content without it."""
import tempfile
import unittest
from pathlib import Path

import docs_commands
import docs_links
import file_length
import formatting
import include_rules
import words

MODULES = "base:\nplan:base\narchitectures:plan;base\nreference:plan;base\ntorch:plan\n"
PRESETS = '{"configurePresets": [{"name": "release"}], "buildPresets": [{"name": "release"}], "testPresets": []}'


class Standards(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name).resolve()
        for module in ["base", "plan", "architectures", "reference", "torch", "cli"]:
            self.write(f"src/{module}/{module}.h", "#pragma once\n")

    def write(self, name, text, mode=0o644):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(mode)
        return path

    def assert_found(self, findings, *parts):
        self.assertEqual(len(findings), 1, findings)
        for part in parts:
            self.assertIn(part, findings[0])

    # Include rules.

    def includes(self, module, text, modules=MODULES):
        self.write(f"src/{module}/a.cpp", text)
        return include_rules.check(self.root, self.write("build/modules.txt", modules))

    def test_allowed_includes_are_allowed(self):
        for module, text in [("plan", '#include "plan/plan.h"\n#include "base/base.h"\n#include <vector>\n'),
                             ("architectures", 'if (config.architecture == "yoco") {}\n'),
                             ("torch", "#include <torch/torch.h>\n"),
                             ("reference", "// architecture == anything in a comment\n"),
                             ("cli", "if (name == architecture.name) {}\n"),  # a look-up in the registry
                             ("cli", '#include "architectures/architectures.h"\n#include "torch/torch.h"\n')]:
            with self.subTest(module=module):
                self.assertEqual(self.includes(module, text), [])

    def test_an_include_that_is_not_declared_is_found(self):
        self.assert_found(self.includes("base", '\n#include "plan/plan.h"\n'), "src/base/a.cpp:2", "DEPENDS")

    def test_an_executor_that_includes_architectures_is_found(self):
        self.assert_found(self.includes("reference", '#include "architectures/architectures.h"\n'), "DEPENDS")

    def test_an_executor_that_reaches_architectures_is_found(self):
        modules = MODULES + "cpu:deep\ndeep:architectures\n"
        self.assert_found(self.includes("base", "", modules), "src/cpu/", "must not reach architectures")

    def test_an_architecture_that_depends_on_more_than_plan_and_base_is_found(self):
        modules = MODULES.replace("architectures:plan;base", "architectures:plan;base;torch")
        self.assert_found(self.includes("base", "", modules), "plan and base only")

    def test_a_circle_of_modules_is_found(self):
        self.assertEqual(len(self.includes("base", "", "base:plan\nplan:base\n")), 2)

    def test_an_unknown_module_is_found(self):
        self.assert_found(self.includes("base", "", "base:bose\n"), "'bose'")

    def test_torch_outside_its_folder_is_found(self):
        for line in ["#include <torch/torch.h>", "#include <ATen/core/Tensor.h>", '#include "c10/util/Half.h"']:
            with self.subTest(line=line):
                self.assert_found(self.includes("cli", line + "\n"), "src/torch alone")

    def test_a_foreign_header_in_quotes_is_found(self):
        self.assert_found(self.includes("cli", '#include "torch/script.h"\n'), "no such file")

    def test_including_cli_is_found(self):
        self.assert_found(self.includes("plan", '#include "cli/cli.h"\n'), "nothing includes cli/")

    def test_asking_for_an_architecture_by_name_is_found(self):
        for line in ['if (config.architecture == "yoco") {}', 'x = "yoco" != c->architecture;',
                     "if (name == architecture) {}", "if (m.architecture() == n) {}"]:
            with self.subTest(line=line):
                self.assert_found(self.includes("cli", line + "\n"), "only src/architectures may")

    # Files.

    def test_an_unformatted_file_is_found(self):
        self.write(".clang-format", "BasedOnStyle: Google\n")
        self.write("src/plan/plan.cpp", "int x = 1;\n")
        self.assertEqual(formatting.check(self.root), [])
        self.write("tests/plan/plan_test.cpp", "int  x=1;\n")
        self.assert_found(formatting.check(self.root), "tests/plan/plan_test.cpp")

    def test_a_long_file_needs_its_reason(self):
        self.write("src/plan/a.cpp", "\n" * 400)
        self.write("src/plan/b.cpp", "// Over 400 lines because it is a table.\n" + "\n" * 400)
        self.assertEqual(file_length.check(self.root), [])
        self.write("src/plan/c.cpp", "\n" * 401)
        self.assert_found(file_length.check(self.root), "src/plan/c.cpp", "401 lines")

    def test_notes_and_machine_paths_are_found(self):
        self.write("scripts/a", "mktemp -d onceover.XXXXXX; cd src/work/; todo.txt\n")
        self.assertEqual(words.check(self.root), [])
        for word in ["TO" + "DO: later", "FIX" + "ME", "XX" + "X", "cd /wo" + "rk/here", "cat /tmp/br" + "ief/x"]:
            with self.subTest(word=word):
                self.write("docs/a.md", f"\n{word}\n")
                self.assert_found(words.check(self.root), "docs/a.md:2")

    # Documentation.

    def links(self, text):
        self.write("README.md", "# Read me\n")
        self.write("docs/a.md", text)
        return docs_links.check(self.root)

    def test_links_that_lead_somewhere_are_fine(self):
        self.assertEqual(self.links("# A `b`, c\n[x](../README.md) [y](#a-b-c) [z](../README.md#read-me) [f](../src)\n"
                                    "[w](https://example.org)\n```text\n[x](nothing.md)\n```\n"), [])

    def test_broken_links_are_found(self):
        for link in ["nothing.md", "#nothing", "../README.md#nothing", "../../outside.md"]:
            with self.subTest(link=link):
                self.assert_found(self.links(f"\n[x]({link})\n"), "docs/a.md:2")

    def test_a_comment_that_names_a_missing_page_is_found(self):
        self.write("src/plan/a.h", "// see docs/a.md\n// see docs/b.md.\n")
        self.assert_found(self.links(""), "src/plan/a.h:2", "docs/b.md")

    def commands(self, text):
        self.write("CMakePresets.json", PRESETS)
        self.write("go", "#!/bin/sh\necho 'usage: go [--full]'\n", 0o755)
        self.write("bin/say", '#!/bin/sh\necho "say $*"\n', 0o755)
        self.write("docs/a.md", text)
        return docs_commands.check(self.root, "docs/a.md", str(self.root / "bin"))

    def test_commands_that_work_are_fine(self):
        self.assertEqual(self.commands("```sh\nx=1; test -z \"$(ls)\"; test -e $ONCEOVER_HOME/go\n```\n"
                                       "```sh\nsay $x\necho a\necho b\n```\n\n```text\nsay 1\n…\nb\n```\n"), [])

    def test_a_command_that_fails_is_found(self):
        self.assert_found(self.commands("```sh\ntrue\n```\n\n```sh\nsay 1 | false | cat\ntrue\n```\n"), "docs/a.md:5", "status 1")

    def test_output_that_differs_is_found(self):
        self.assert_found(self.commands("```sh\nsay 1\n```\n\n```text\nsay 2\n```\n"), "docs/a.md:5", "say 1")
        self.assert_found(self.commands("```sh\nsay 1\n```\n\n```text\nsay 1\nmore\n```\n"), "docs/a.md:5")

    def test_a_block_of_an_unknown_language_is_found(self):
        for tag in ["", "bash", "console"]:
            with self.subTest(tag=tag):
                self.assert_found(self.commands(f"\n```{tag}\nsay 1\n```\n"), "docs/a.md:2")

    def test_setup_commands_that_exist_are_fine(self):
        self.assertEqual(self.commands("```sh setup\n./go\n./go --full  # all of it\ncmake --preset release && cmake --build "
                                       f"--preset release\n{docs_commands.PATH_LINE}\n```\n"), [])

    def test_setup_commands_that_do_not_exist_are_found(self):
        for line in ["./gone", "./go --fu", "cmake --preset fast", "cmake -B build", "ctest --preset release", "curl x"]:
            with self.subTest(line=line):
                self.assert_found(self.commands(f"```sh setup\n{line}\n```\n"), line)


if __name__ == "__main__":
    unittest.main()
