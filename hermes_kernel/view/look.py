"""How everything of ours looks, in one place: colours that are the theme's, sizes, and the style sheet of panels. Pure.

No colour says anything alone, and no text has a colour of its own that a theme could make unreadable.
"""

from __future__ import annotations

QUIET = "var(--jp-ui-font-color2,var(--vscode-descriptionForeground,GrayText))"
INK = "var(--jp-ui-font-color1,var(--vscode-foreground,CanvasText))"
LINE = "var(--jp-border-color2,var(--vscode-panel-border,#bdbdbd))"
GROUND = "var(--jp-layout-color2,var(--vscode-editorWidget-background,Canvas))"
GROOVE = "var(--jp-layout-color3,#ccc)"
TRENCH = f"background:{GROOVE};outline:1px solid transparent;outline-offset:-1px"
"""The ground of a bar. Forced colours take grounds away and paint outlines, be they transparent."""
LETTERS, FAINT = "fill:currentColor", "fill:currentColor;fill-opacity:.7"
"""Words in a `markup.picture`: forced colours reach them through what is around, and leave a fill alone."""

FRAME = f"font-size:var(--jp-ui-font-size1,13px);color:{QUIET};line-height:1.5;"
CODE = "font-family:var(--jp-code-font-family,monospace);font-size:var(--jp-code-font-size,12px)"
TONES = {
    "busy": "var(--jp-brand-color1,#1976d2)",
    "slow": "var(--jp-warn-color1,#b26a00)",
    "person": "var(--jp-success-color1,#2e7d32)",
    "bad": "var(--jp-error-color1,#c62828)",
}

UNSEEN = "position:absolute;width:1px;height:1px;margin:-1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap"
"""Read out, not seen."""

SHEET = f"""<style>
.hermes-panel{{font-size:var(--jp-ui-font-size1,13px);line-height:1.5;color:{INK};max-width:100%;overflow:hidden}}
.hermes-panel .widget-html,.hermes-panel .widget-html-content{{height:auto;line-height:1.5;min-width:0;
  font-size:inherit;white-space:normal;overflow-wrap:anywhere}}
.hermes-panel .widget-box{{min-width:0;flex-wrap:wrap;gap:4px 8px;overflow:visible}}
.hermes-panel .widget-vbox{{flex-wrap:nowrap}}
.hermes-panel .jupyter-button{{width:auto;flex:0 0 auto;border-radius:3px;box-shadow:none}}
.hermes-panel .jupyter-button>i{{width:1em;text-align:center}}
.hermes-panel .jupyter-button:focus-visible,.hermes-panel input:focus-visible,.hermes-panel select:focus-visible,
.hermes-panel summary:focus-visible{{outline:2px solid var(--jp-brand-color1,Highlight);outline-offset:1px}}
.hermes-panel select[size]{{font-family:var(--jp-code-font-family,monospace);font-size:var(--jp-code-font-size,12px)}}
.hermes-panel mark{{background:var(--jp-warn-color3,#ffe0b2);color:#111;font-weight:600}}
.hermes-panel .widget-select{{margin:2px 0}}
.hermes-panel .widget-select>.widget-label,.hermes-panel .widget-textarea>.widget-label{{margin:0}}
.hermes-panel .widget-textarea{{margin:2px 0}}
.hermes-panel .hermes-quiet{{color:{QUIET}}}
.hermes-panel .hermes-page{{max-height:28em;overflow:auto;padding:4px 8px;border-left:2px solid {LINE}}}
.hermes-panel hr{{border:0;border-top:1px solid {LINE};margin:8px 0}}
.hermes-panel :is(h1,h2,h3,h4,h5,h6){{font-size:1em;font-weight:600;line-height:1.4;margin:10px 0 2px}}
.hermes-panel h1{{font-size:1.25em}} .hermes-panel h2{{font-size:1.15em}}
.hermes-panel :is(p,ul,ol,pre,blockquote){{margin-top:4px;margin-bottom:4px}}
.hermes-panel blockquote{{margin-left:0;padding-left:10px;border-left:2px solid {LINE}}}
.hermes-markdown :is(th,td){{padding:1px 10px 1px 0;border-bottom:1px solid {LINE};vertical-align:top}}
.hermes-panel .hermes-markdown table{{margin:4px auto 4px 0}}
.hermes-markdown :is(pre,code){{{CODE}}}
.hermes-panel .hermes-page pre{{white-space:pre-wrap;overflow-wrap:anywhere}}
.hermes-panel table{{border-collapse:collapse;font-variant-numeric:tabular-nums}}
.hermes-panel th,.hermes-panel td{{padding:0 1em 0 0}}
@media (forced-colors:active){{.hermes-panel .jupyter-button{{border:1px solid ButtonText}}}}
</style>"""
"""For what is made of widgets. Documents have their styles inline, for their viewers take style sheets away."""
