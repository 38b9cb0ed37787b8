"""Who may include whom: `include_rules.py ROOT MODULES`.

MODULES is build/modules.txt, written by CMake: one line "name:dependency;dependency" for each module. A module includes
itself and the modules it declares. Some declarations are refused: see check_declarations.
"""
import re
from pathlib import Path

from common import files, run, without_comment

EXECUTORS = {"reference", "cpu", "torch"}
INCLUDE = re.compile(r'\s*#\s*include\s*([<"])([^>"]+)[>"]')
TORCH = re.compile(r"(torch|ATen|c10|caffe2)/")
ASKS_ARCHITECTURE = re.compile(r"""\barchitecture(\(\))?\s*[=!]=|[=!]=\s*([\w.>()-]*(\.|->|::))?architecture\b(?!\.|->)""")


def read_modules(path):
    modules = {}
    for line in Path(path).read_text().split():
        name, _, dependencies = line.partition(":")
        modules[name] = set(dependencies.split(";")) - {""}
    return modules


def reachable(modules, name):
    seen, waiting = set(), [name]
    while waiting:
        for dependency in modules.get(waiting.pop(), set()) - seen:
            seen.add(dependency)
            waiting.append(dependency)
    return seen


def check_declarations(modules):
    """Rules on DEPENDS itself."""
    for name, dependencies in sorted(modules.items()):
        for unknown in sorted(dependencies - modules.keys()):
            yield f"src/{name}/CMakeLists.txt: DEPENDS names '{unknown}', which is no module"
        if name in EXECUTORS and "architectures" in reachable(modules, name):
            yield f"src/{name}/CMakeLists.txt: an executor must not reach architectures"
        if name == "architectures" and dependencies - {"plan", "base"}:
            yield f"src/{name}/CMakeLists.txt: architectures may depend on plan and base only"
        if name in reachable(modules, name):
            yield f"src/{name}/CMakeLists.txt: {name} depends on itself in a circle"


def check_include(root, module, bracket, target, modules):
    """Why this #include is refused, or None."""
    if TORCH.match(target) and module != "torch" and (bracket == "<" or not target.startswith("torch/")):
        return "torch headers are for src/torch alone"
    if bracket == "<":
        return None
    owner, slash, _ = target.partition("/")
    if not slash:
        return 'expected "module/file.h"'
    if owner == "cli" and module != "cli":
        return "nothing includes cli/"
    if module != "cli" and owner != module and owner not in modules.get(module, set()):
        return f"src/{module}/CMakeLists.txt does not list {owner} under DEPENDS"
    return None if (root / "src" / target).is_file() else "no such file in src; other libraries' headers take <>"


def check(root, modules_file):
    modules = read_modules(modules_file)
    findings = list(check_declarations(modules))
    for path in files(root, ["src"], [".h", ".cpp"]):
        name = path.relative_to(root)
        module = name.parts[1]
        for number, line in enumerate(path.read_text().splitlines(), 1):
            include = INCLUDE.match(line)
            reason = check_include(root, module, *include.groups(), modules) if include else None
            if module != "architectures" and ASKS_ARCHITECTURE.search(without_comment(line)):
                reason = "asks for an architecture's name; only src/architectures may"
            if reason:
                findings.append(f"{name}:{number}: {line.strip()}: {reason}")
    return findings


if __name__ == "__main__":
    run(check)
