"""Hostile names: of skills and of files in them, as a model or an archive may say them."""

from __future__ import annotations

ESCAPES = (
    "../outside.md", "../../outside.md", "references/../../outside.md", "/etc/passwd", "//etc/passwd", "/outside.md", "~/outside.md", "C:\\outside.md",
    "C:/outside.md", "c:outside.md", "\\\\server\\share\\x.md", "//server/share/x.md", "\\\\?\\C:\\x.md", "..\\outside.md", "references\\..\\..\\outside.md",
    "references/..", "..", "./../outside.md", "SKILL.md/", "SKILL.md/../../outside.md", "references/x.md\x00.png", "\x00", "references/" + "x" * 300,
    "/".join(["references"] + ["d"] * 3000), "references/con", "references/NUL.md", "references/com1.txt", "references/aux", "references/x.md.",
    "references/x.md ", "references/..././outside.md", "references/%2e%2e/%2e%2e/outside.md", "references/x\u202egpj.md", "references/x\u200b.md",
    "references/x\x1b[2J.md", "references/a\nb.md", "file:///etc/passwd", "references/．．/outside.md", "references/∕etc∕passwd", "references/$HOME",
    "references/$(touch x)", "references/`id`", ".git/hooks/post-checkout", ".hermes-kernel.json", "../.hermes-kernel.json", "../.archive/x", ".",
)  # fmt: skip
"""Of files. Some are merely odd (`$HOME` is a file's name like another): none may leave the skill's folder."""

LEAVING = tuple(
    name
    for name in ESCAPES
    if ".." in name.replace("\\", "/").split("/") or name.startswith(("/", "~", "\\", "C:", "c:", "file:"))
)
"""Those that, taken at their word, lie outside the folder."""

SKILLS = (
    "..", ".", "", " ", "../outside", "a/../../outside", "/etc", "C:\\skills", "\\\\server\\share", "~", "~root", "a\x00b", "x" * 65, "x" * 5000, "-lead",
    "trail-", "two--hyphens", "Upper", "trailing.", "trailing ", "con", "nul", "com1", "lpt9", "aux", ".archive", ".hidden", ".hermes-kernel.json",
    "<img src=x onerror=alert(1)>", "<script>alert(1)</script>", "\x1b[31mred", "\x1b]0;t\x07", "[x](javascript:alert(1))", "`id`", "$(id)", "; rm -rf ~",
    "%run evil.py", "!id", "%%bash\nid", "a\nb", "- forged: line", "раndas", "a\u200bb", "a\u202eb", "ｆｕｌｌ", "a|b", "a*b", "a?b", 'a"b', "{x}", "{{x}}",
    "a:b", "a§b", "SKILL.md", "name: other", "\u2028x", "e\u0301tude/..", "\ud800",
)  # fmt: skip
"""Of skills: none is the name of one."""
