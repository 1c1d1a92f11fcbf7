"""Which shell commands need a person's word: one table, read from top to bottom, applied to undisguised pipelines.

A guard against accidents, not a sandbox: a program in a file, or a disguise the table does not know, gets past it.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass

from hermes_kernel.core.text import brief
from hermes_kernel.world.tools.risk import Risk
from hermes_kernel.world.tools.shell_words import pipelines

AT = r"(?:^|\| )(?:sudo )?"  # where a program stands in a pipeline
RF = r"(?=[^|]* (?:-\w*[rR]\w*|--recursive))"
DISK = r"/dev/(?:sd|hd|vd|xvd|nvme|mmcblk|disk|mapper)"
ROOTS = r"""(?: --no-preserve-root| (?:/|/\*|/\.|/\.\.|//+|~/?\*?|\$HOME/?\*?|\$\{HOME\}/?\*?|/(?:bin|boot|dev|etc|home|lib|lib64|opt|proc|root|sbin|srv|sys|usr|var|Users|System)/?\*?)(?= |$))"""
SYSTEM = r"(?:/etc/|/boot/|/usr/|/bin/|/sbin/|/lib|/proc/|/sys/|/System/|~?/\.ssh/|~/\.(?:bashrc|profile|zshrc|bash_profile))"


@dataclass(frozen=True, slots=True)
class Rule:
    """``why`` is said to the person; ``forbidden`` commands are never run."""

    key: str
    why: str
    pattern: re.Pattern[str]
    forbidden: bool = False


def _rule(key: str, why: str, pattern: str, *, forbidden: bool = False) -> Rule:
    return Rule(key, why, re.compile(pattern, re.DOTALL), forbidden)


RULES = (
    _rule("root", "it deletes a system folder or the whole home", rf"{AT}rm{RF}[^|]*{ROOTS}", forbidden=True),
    _rule("mkfs", "it formats a disk", rf"{AT}(?:mkfs(?:\.\w+)?|mke2fs|wipefs|mkswap) [^|]*/dev/", forbidden=True),
    _rule("disk", "it overwrites a disk", rf"{AT}(?:dd [^|]*of={DISK}|shred [^|]*{DISK})|>\|? ?{DISK}", forbidden=True),
    _rule("fork-bomb", "it starts processes without end", r":\s*\(\s*\)\s*\{|\w+\(\)\s*\{[^}]*\w+\s*\|\s*\w+\s*&", forbidden=True),
    _rule("unread", "it is nested too deeply to be read", r"\(too deep to read\)"),
    _rule("pipe-to-shell", "it runs what it downloads or decodes",
          rf"{AT}(?:curl|wget|fetch|base64|base32|xxd|openssl|gunzip|zcat|rev|tr)\b.*\| (?:sudo )?(?:\w*sh|python[\d.]*|perl|ruby|node|php)\b"),
    _rule("remote-script", "it runs a script from elsewhere", rf"{AT}(?:\w*sh|source|\.|eval) [^|]*\$UNKNOWN|{AT}\$UNKNOWN"),
    _rule("recursive-delete", "it deletes folders with all they hold", rf"{AT}(?:rm|rimraf|trash){RF}"),
    _rule("wide-delete", "it deletes whatever is there", rf"{AT}(?:rm [^|]*(?: |/)\*(?= |$)|shred |truncate [^|]*-s ?0)"),
    _rule("find-delete", "it deletes what it finds", rf"{AT}find [^|]*(?:-delete\b|-exec(?:dir)? (?:\S*/)?(?:rm|shred|unlink)\b)"),
    _rule("dd", "it copies raw bytes over its target", rf"{AT}dd [^|]*of="),
    _rule("partition", "it changes disks or mounts", rf"{AT}(?:fdisk|parted|sfdisk|gdisk|lvremove|vgremove|zpool|zfs|umount|mount|mkfs\S*|wipefs|swapoff)(?= |$)"),
    _rule("force-push", "it rewrites a shared history", rf"{AT}git [^|]*\bpush\b[^|]* (?:-\w*f\w*\b|--force\b|--force-with-lease|--mirror|--delete|\+\S|:\S)"),
    _rule("git-discard", "it throws uncommitted work away", rf"{AT}git [^|]*\b(?:reset [^|]*--hard|clean [^|]*-\w*[fdx]|checkout (?:[^|]* )?(?:-f|--force|--|\.)(?: |$)|restore \S|branch [^|]*-D|stash (?:drop|clear)|filter-branch|filter-repo|reflog expire|update-ref -d)"),
    _rule("permissions", "it opens or changes permissions widely", rf"{AT}(?:chmod [^|]*(?:-\w*R|--recursive|[0-7]?777|[ao]\+\w*w|\+s)|chown [^|]*(?:-\w*R|--recursive)|chattr|setfacl [^|]*-\w*R)"),
    _rule("privilege", "it runs with another user's rights", r"(?:^|\| )sudo |(?:^|\| )(?:su|doas|pkexec|runuser)(?= |$)"),
    _rule("kill", "it ends processes it did not start", rf"{AT}(?:kill [^|]*(?:-9|-KILL|-SIGKILL|-s ?(?:9|KILL))?[^|]* (?:--? ?)?-1\b|killall|pkill|skill|slay|kill [^|]*(?:-9|-KILL|-SIGKILL))"),
    _rule("shutdown", "it stops the machine", rf"{AT}(?:shutdown|reboot|halt|poweroff|init [06]|telinit [06]|systemctl (?:\S+ )*(?:poweroff|reboot|halt|kexec|suspend))(?= |$)"),
    _rule("services", "it changes system services", rf"{AT}(?:systemctl (?:\S+ )*(?:stop|disable|mask|restart)|service \S+ (?:stop|restart)|launchctl (?:unload|remove)|crontab (?:-r|-)(?= |$)|iptables|nft|ufw)"),
    _rule("system-file", "it writes to a system or login file", rf">{{1,2}}\|? ?{SYSTEM}|{AT}(?:rm|tee|cp|mv|install|ln|sed -\w*i\S*|rsync) [^|]* {SYSTEM}"),
    _rule("accounts", "it changes user accounts", rf"{AT}(?:userdel|useradd|usermod|groupdel|passwd|chpasswd|visudo)(?= |$)"),
    _rule("database", "it deletes tables or databases", r"(?i)\b(?:drop (?:table|database|schema)|truncate table|delete from (?![^;|]*\bwhere\b))|(?:^|\| )(?:sudo )?(?:dropdb|redis-cli [^|]*flush)"),
    _rule("cloud", "it destroys what may be hard to make again", rf"{AT}(?:terraform (?:\S+ )*(?:destroy|apply)|kubectl (?:\S+ )*(?:delete|drain)|docker (?:\S+ )*(?:prune|rm|rmi|kill|down -v)|helm (?:\S+ )*(?:uninstall|delete)|aws [^|]*(?:delete|terminate|rb|rm)\b|gcloud [^|]*delete|az [^|]*delete|gh repo delete)"),
    _rule("publish", "it publishes a package", rf"{AT}(?:npm|yarn|pnpm|cargo|gem|poetry|flit|hatch|uv) (?:\S+ )*publish(?= |$)|{AT}twine upload"),
    _rule("listener", "it opens a shell to the network", rf"{AT}(?:nc|ncat|netcat|socat) [^|]*(?:-\w*[ec]\b|EXEC:)|/dev/(?:tcp|udp)/"),
    _rule("hidden-python", "Python or Perl code in it runs commands or deletes", rf"{AT}(?:python[\d.]*|perl|ruby|node) [^|]*-\w*[ce]\b.*(?:system|popen|subprocess|rmtree|unlink|remove\(|exec|spawn|pty|`)"),
)  # fmt: skip


def shell_risk(command: str) -> Risk | None:
    """The worst thing `command` is known to do, or None."""
    lines = [
        *pipelines(command),
        *(" ".join(part.split()) for part in command.splitlines() if "(" in part or ">" in part),
    ]
    for rule in RULES:
        for line in lines:
            if rule.pattern.search(line):
                return Risk(f"shell:{rule.key}", f"{rule.why} ({brief(line, 200)})", rule.forbidden)
    return None


RUNNERS = {
    "os": {
        "system",
        "popen",
        "execv",
        "execve",
        "execvp",
        "execl",
        "execlp",
        "spawnv",
        "spawnl",
        "posix_spawn",
        "fork",
    },
    "subprocess": {"run", "call", "check_call", "check_output", "Popen", "getoutput", "getstatusoutput"},
    "pty": {"spawn"},
    "asyncio": {"create_subprocess_exec", "create_subprocess_shell"},
}
DELETERS = {("shutil", "rmtree"), ("os", "removedirs"), ("shutil", "move")}
SHELL_LINE = re.compile(r"(?m)^\s*(?:[\w, ]+=\s*)?!{1,2}(.+)$|^\s*%(?:sx|system)\s+(.+)$")
SHELL_CELL = re.compile(r"\A\s*%%(?:bash|sh|script|system|sx|!)[^\n]*\n(.*)\Z", re.DOTALL)
SPOKEN = re.compile(r"\b(?:os\.(?:system|popen|exec\w+|spawn\w+)|subprocess\.\w+|shutil\.rmtree|pty\.spawn)\b")


def python_risk(code: str) -> Risk | None:
    """What a person is asked about in Python code: commands it runs (judged as shell where they are written out), whole
    folders it deletes, and names that are put together to hide either. A guard against accidents, not a sandbox."""
    cell = SHELL_CELL.match(code)
    if cell:
        return shell_risk(cell[1])
    for found in SHELL_LINE.finditer(code):
        risk = shell_risk(found[1] or found[2])
        if risk:
            return risk
    try:
        tree = ast.parse(SHELL_LINE.sub("pass", code))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        spoken = SPOKEN.search(code)
        return Risk("python:command", f"it runs commands or deletes folders ({spoken[0]})") if spoken else None
    return _tree_risk(tree)


def _tree_risk(tree: ast.AST) -> Risk | None:
    aliases = _aliases(tree)
    milder: Risk | None = None
    for node in ast.walk(tree):
        risk = _call_risk(node, aliases) if isinstance(node, ast.Call) else None
        if risk and risk.forbidden:
            return risk
        milder = milder or risk
    return milder


def _aliases(tree: ast.AST) -> dict[str, str]:
    """Local name to dotted origin, for every import wherever it stands."""
    found: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found.update({name.asname or name.name.split(".")[0]: name.name for name in node.names})
        elif isinstance(node, ast.ImportFrom):
            found.update({name.asname or name.name: f"{node.module}.{name.name}" for name in node.names})
    return found


def _call_risk(call: ast.Call, aliases: dict[str, str]) -> Risk | None:
    module, _, name = _dotted(call.func, aliases).rpartition(".")
    if (module, name) in DELETERS:
        return Risk("python:delete", f"it calls {module}.{name}")
    if name in RUNNERS.get(module, ()):
        written = _written(call)
        return shell_risk(written) if written is not None else Risk("python:command", f"it calls {module}.{name}")
    return None


def _dotted(node: ast.expr, aliases: dict[str, str]) -> str:
    match node:
        case ast.Name(id=name):
            return aliases.get(name, name)
        case ast.Attribute(value=value, attr=name):
            return f"{_dotted(value, aliases)}.{name}"
        case ast.Call(func=ast.Name(id="__import__"), args=[ast.Constant(value=str(name)), *_]):
            return name
        case ast.Call(func=ast.Attribute(attr="import_module"), args=[ast.Constant(value=str(name)), *_]):
            return name
        case ast.Call(func=ast.Name(id="getattr"), args=[owner, ast.Constant(value=str(name)), *_]):
            return f"{_dotted(owner, aliases)}.{name}"
        case ast.Call(func=ast.Name(id="getattr"), args=[owner, *_]):
            return f"{_dotted(owner, aliases)}.system"
    return ""


def _written(call: ast.Call) -> str | None:
    """The command where it is written out in the call, or None."""
    match call.args[0] if call.args else None:
        case ast.Constant(value=str(text)):
            return text
        case ast.List(elts=elements) | ast.Tuple(elts=elements) if all(isinstance(e, ast.Constant) for e in elements):
            return " ".join(str(e.value) for e in elements if isinstance(e, ast.Constant))
    return None
