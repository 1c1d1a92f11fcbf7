"""Which shell commands need a person's word: one table, read from top to bottom, applied to undisguised pipelines.

A guard against accidents, not a sandbox: a program in a file, or a disguise the table does not know, gets past it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from hermes_kernel.core.text import brief
from hermes_kernel.world.tools.risk import Risk, together
from hermes_kernel.world.tools.shell_words import LENGTH, UNREAD, pipelines

AT = r"(?:^|\| )(?:sudo )?"  # where a program stands in a pipeline
END = r"(?= |$)"
TREE = r"(?=[^|]* (?:-\w*[rR]|--recursive))"
DISK = r"/dev/(?:sd|hd|vd|xvd|nvme|mmcblk|disk|mapper)"
PATHS = r"(?:/\.{0,2}|/\.?\*)*"  # what adds nothing to a path: ``/./``, ``//``, ``/*``
TOP = "bin|boot|dev|etc|home|lib|lib64|opt|proc|root|sbin|srv|sys|usr|var|Users|System"
HOME = r"(?:~|\$HOME|\$\{HOME\})"
USER = r"/(?:home|Users)/(?:\$USER|\$\{USER\}|\$LOGNAME|\$UNKNOWN)"
ROOT = rf" (?:--no-preserve-root|(?:/|~\w*|{HOME}|/+(?:{TOP})|{USER}){PATHS}[/*]*){END}"
SYSTEM_TOP = r"/(?:etc|boot|usr|bin|sbin|lib\w*|proc|sys|System)/"
SYSTEM = rf"(?:{SYSTEM_TOP}|{HOME}?/\.(?:ssh|hermes)/|{HOME}/\.(?:\w*rc|\w*profile){END})"
CODED = r"(?:python[\d.]*|perl|ruby|node|php)"
INTERPRETER = rf"(?:\w*sh|{CODED})"
OPTIONS = r"(?: -\S+| (?<=-[WXr] )\S+)*?"
WRITTEN = rf"{OPTIONS} (?:-[bBdEiIOPqsSuvxanlpw0]*[ceErp]|--(?:eval|print)\b)"  # up to code that is an option
DOES = r"(?:system|popen|subprocess|rmtree|rm_r|rmSync|rmdir|unlink|remove|exec|spawn|\bpty\b|\bfork\b|`)"
HERE = re.compile(r"^([^\n]*(?<!<)<<-? ?[\"'\\]?(\w+)[^\n]*)\n(.*?)(?:^\s*\2\s*$|\Z)", re.MULTILINE | re.DOTALL)
READS = re.compile(rf"(?:sudo )?{CODED}(?: -\S*)*(?: <<.*)?", re.DOTALL)
KILL = r"(?:-9|-KILL|-SIGKILL|-[sn] ?(?:9|KILL|SIGKILL))"


@dataclass(frozen=True, slots=True)
class Rule:
    """``why`` is said to the person; ``forbidden`` commands are never run. Patterns are compiled when first needed."""

    key: str
    why: str
    pattern: str
    forbidden: bool = False


FORBIDDEN = (
    Rule("root", "it deletes a system folder or the whole home", rf"{AT}rm{TREE}[^|]*{ROOT}", forbidden=True),
    Rule(
        "format",
        "it formats a disk",
        rf"{AT}(?:mkfs(?:\.\w+)?|mke2fs|wipefs|mkswap|newfs) [^|]*/dev/",
        forbidden=True,
    ),
    Rule(
        "disk",
        "it overwrites a disk",
        rf"{AT}(?:dd [^|]*of={DISK}|(?:shred|tee|blkdiscard) [^|]*{DISK}|cp [^|]* {DISK}\S*(?= \||$)"
        rf"|hdparm [^|]*--security-erase|nvme (?:format|sanitize) [^|]*{DISK}|cryptsetup [^|]*luksFormat)|>\|? ?{DISK}",
        forbidden=True,
    ),
    Rule(
        "fork-bomb",
        "it starts processes without end",
        r"(?<!\S)(\S{1,40}) ?\( ?\) ?\{[^}]{0,99}(?<!\S)\1 ?\| ?\1 ?&",
        forbidden=True,
    ),
)
ASKED = (
    Rule("unread", "it is too long or too deep to be read", rf"\A{re.escape(UNREAD)}\Z"),
    Rule(
        "pipe-to-shell",
        "it runs what it downloads or decodes",
        rf"{AT}(?:curl|wget|fetch|https?|xh|base64|base32|xxd|openssl|gunzip|zcat|rev|tr)\b.*\| "
        rf"(?:sudo )?(?:{INTERPRETER}|source|\.){END}",
    ),
    Rule("unknown", "what it runs is only known when it runs", rf"{AT}(?:(?:\w*sh|source|\.|eval) [^|]*)?\$UNKNOWN"),
    Rule(
        "recursive-delete",
        "it deletes folders with all they hold",
        rf"{AT}(?:rm{TREE}|rimraf |mv(?: -\S+)*{ROOT}(?= ))",
    ),
    Rule(
        "wide-delete",
        "it deletes whatever is there",
        rf"{AT}(?:rm(?= )[^|]*[ /]\*{END}|rm(?: -\S+)*(?= \||$)|shred |truncate [^|]*-s ?0"
        r"|find [^|]*(?:-delete\b|-(?:exec|ok)(?:dir)? \S*(?:rm|shred)\b)|rsync [^|]*--del|tar [^|]*--remove-files)",
    ),
    Rule("raw-copy", "it copies raw bytes over its target", rf"{AT}dd [^|]*of="),
    Rule(
        "partition",
        "it changes disks or mounts",
        rf"{AT}(?:[fsgc]?g?disk|parted|lvremove|vgremove|zpool|zfs|umount|mount|mkfs\S*|wipefs|swapoff){END}",
    ),
    Rule(
        "force-push",
        "it rewrites or deletes a shared history",
        rf"{AT}git [^|]*\bpush\b[^|]* (?:-\w*[fd]\w*{END}|--force|--mirror|--delete|--prune|\+\S|:\S)",
    ),
    Rule(
        "git-discard",
        "it throws work away that git does not keep",
        rf"{AT}git [^|]*\b(?:reset [^|]*--hard|clean [^|]*-\w*[fdx]|checkout (?:[^|]* )?(?:-f|--force|--|\.){END}"
        r"|restore \S|branch [^|]*-D|stash (?:drop|clear)|filter-branch|filter-repo|reflog expire|update-ref -d)",
    ),
    Rule(
        "permissions",
        "it opens or changes permissions widely",
        rf"{AT}(?:chmod [^|]*(?:-\w*R|--recursive|[0-7]?777|[2467][0-7]{{3}}|[ao]\+\w*w|\+\w*s)"
        r"|chown [^|]*(?:-\w*R|--recursive)|chattr|setfacl)",
    ),
    Rule("privilege", "it runs with another user's rights", rf"(?:^|\| )(?:sudo|su|doas|pkexec|runuser){END}"),
    Rule(
        "kill",
        "it ends processes it may not have started",
        rf"{AT}(?:kill [^|]*(?:{KILL}|(?<= )(?:-?1|\$PPID)){END}|(?:killall5?|pkill|skill){END})",
    ),
    Rule(
        "shutdown",
        "it stops the machine",
        rf"{AT}(?:shutdown|reboot|halt|poweroff|(?:tel)?init [06]"
        rf"|systemctl (?:\S+ )*(?:poweroff|reboot|halt|kexec)){END}",
    ),
    Rule(
        "services",
        "it changes system services",
        rf"{AT}(?:systemctl (?:\S+ )*(?:stop|disable|mask|restart)|service \S+ (?:stop|restart)"
        rf"|launchctl (?:unload|remove)|iptables|nft|ufw){END}",
    ),
    Rule(
        "later",
        "it has something run when nobody is there",
        rf"{AT}(?:(?:at|batch){END}|crontab (?!-l))",
    ),
    Rule(
        "system-file",
        "it changes a system or login file",
        rf">{{1,2}}\|? ?{SYSTEM}|{AT}(?:rm|tee|mv|sed -\w*i\S*)(?= )[^|]* {SYSTEM}"
        rf"|{AT}(?:cp|install|ln|rsync)(?= )[^|]* {SYSTEM}\S*(?= \||$)",
    ),
    Rule(
        "accounts",
        "it changes user accounts",
        rf"{AT}(?:userdel|useradd|usermod|groupdel|passwd|chpasswd|visudo){END}",
    ),
    Rule(
        "database",
        "it deletes tables or databases",
        r"(?i:\b(?:drop (?:table|database|schema)|truncate table|delete from (?![^;|]*\bwhere\b)))"  # noqa: S608 - looks for it
        rf"|{AT}(?:dropdb{END}|redis-cli [^|]*(?i:flush)|mongo\w* [^|]*(?:dropDatabase|drop\(|deleteMany))",
    ),
    Rule(
        "infrastructure",
        "it destroys what may be hard to make again",
        rf"{AT}(?:terraform (?:\S+ )*(?:destroy|apply)|kubectl (?:\S+ )*(?:delete|drain)"
        r"|helm (?:\S+ )*(?:uninstall|delete)"
        r"|docker (?:\S+ )*(?:prune|rm|rmi|kill)|docker[ -]compose (?:\S+ )*down|aws [^|]*(?:delete|terminate|rb|rm)\b"
        r"|gcloud [^|]*delete|az [^|]*delete|gh repo delete|gsutil [^|]*\brm\b|heroku [^|]*destroy"
        r"|(?:pulumi|vagrant) (?:\S+ )*destroy|(?:curl|gh api|https?|xh) [^|]*(?<= )(?:-X ?|--request[ =]|)DELETE\b)",
    ),
    Rule(
        "publish",
        "it publishes a package",
        rf"{AT}(?:(?:npm|yarn|pnpm|cargo|gem|poetry|flit|hatch|uv) (?:\S+ )*publish|twine upload){END}",
    ),
    Rule(
        "jobs",
        "it makes or changes jobs, which run when nobody is there, or whom they tell",
        rf"{AT}(?:hermes-kernel|{INTERPRETER} -m hermes_kernel) (?:-\S+ )*schedule (?:-\S+ )*"
        rf"(?:add|change|pause|resume|run|stop|remove|targets?){END}",
    ),
    Rule(
        "agents",
        "it starts another agent, which spends a budget of its own",
        rf"{AT}(?:hermes-kernel|{INTERPRETER} -m hermes_kernel) (?:ask|map|run|tick|scheduler){END}",
    ),
    Rule(
        "network-shell",
        "it opens a shell to the network",
        rf"{AT}(?:nc|ncat|netcat|socat) [^|]*(?:-\w*[ec]{END}|EXEC:)|/dev/(?:tcp|udp)/",
    ),
    Rule(
        "script",
        "the code in it runs commands or deletes",
        rf"{AT}{INTERPRETER}(?>{WRITTEN}| (?=[^|]*<<)).*{DOES}"
        rf"|{AT}(?:echo|printf) (?=[^|]*\| (?:sudo )?{INTERPRETER}(?: -)?(?: \||$))[^|]*{DOES}"
        rf"|{AT}\w*awk [^|]*(?:system *\(|\| *\")",
    ),
)


def shell_risk(command: str) -> Risk | None:
    """The worst thing `command` is known to do, or all that it does which a person is asked about; or None."""
    spaced = (" ".join(line.split()) for line in command[:LENGTH].splitlines() if "(" in line or ">" in line)
    lines = list(dict.fromkeys((*pipelines(command), *spaced, *_below(command[:LENGTH]))))
    return together(_broken(rule, lines) for rule in (*FORBIDDEN, *ASKED))


def _below(command: str) -> Iterator[str]:
    """The programs whose code stands in the lines below them, each in one line with it."""
    for found in HERE.finditer(command):
        programs = (program for line in pipelines(found[1]) for program in line.split(" | "))
        yield from (f"{program} << {' '.join(found[3].split())}" for program in programs if READS.fullmatch(program))


def _broken(rule: Rule, lines: Iterable[str]) -> Risk | None:
    line = next((line for line in lines if re.search(rule.pattern, line, re.DOTALL)), None)
    if line is None:
        return None
    return Risk(f"shell:{rule.key}", f"{rule.why} ({brief(line, 200)})", rule.forbidden)
