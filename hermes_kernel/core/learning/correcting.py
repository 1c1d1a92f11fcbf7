"""Whether a prompt corrects what was done before it. In several languages, and precise: not every "no" is a correction.

Only how the words begin is looked at, and phrases that cannot be meant otherwise.
"""

from __future__ import annotations

import re

LOOKED_AT = 400  # characters; a correction comes first

_NO = "no|nope|nah|nein|nee|non|não|nao|нет|ні|nie|いいえ|いや|不|아니요?"
_POLITE = (
    "thanks?|thank|thx|problem|need|worries|matter|idea|more|(?:that|it)['’]?s (?:all|fine|it|ok)|danke|merci|gracias|"
    "grazie|obrigad[oa]|problème|problema|спасибо|проблем|dank|dzięki|谢|不用|謝"
)
_HURDLES = r"(?:hm+|oh|ah|well|sorry|please|but|and|bitte|aber)\b[\s,.…]*"
_BEGINNINGS = (
    rf"(?:{_NO})\s*[,.!:;–—-]+\s*(?!{_POLITE})(?=\w+\W+\w)",
    # English
    r"(?:that|it)(?:['’]s| is) (?:\w+ )?(?:wrong|incorrect|not (?:right|correct|what|how|it))\b",
    r"(?:wrong|incorrect|not (?:quite|like that|what i|right))\b",
    r"you (?:forgot|missed|ignored|misunderstood|misread|did(?:n['’]t| not)|should(?:n['’]t| not)? have)\b",
    r"i (?:said|meant|asked (?:for|you)|told you|wanted (?:the|a|an|it|that|you))\b",
    r"(?:actually,? (?:use|take|make|it|i|that|the|you|no|we|do)\b|instead[,\s]+\w)",
    r"(?:don['’]t|do not|never|stop) (?:us[ei]|do|mak|writ|add|chang|drop|remov|delet|plot|round|guess|assum)",
    # German
    r"(?:das|es|dies) (?:ist|war|stimmt) (?:\w+ )?(?:falsch|nicht|so nicht)\b",
    r"(?:falsch|so nicht|nicht so|stimmt nicht|stattdessen)\b",
    r"du hast .{0,40}(?:vergessen|übersehen|missverstanden)\b",
    r"ich (?:meinte|sagte|wollte (?:den|die|das|eine?n?))\b",
    # French
    r"(?:c['’]est (?:faux|pas|incorrect)|ce n['’]est pas|pas comme ça|plutôt)\b",
    r"(?:tu as|vous avez) (?:oublié|mal)\b",
    r"je (?:voulais (?:dire|les?|la|une?)|t['’]ai dit)\b",
    # Spanish, Italian, Portuguese
    r"(?:es[ot]o? )?(?:está mal|no es (?:eso|lo que|así|correcto)|incorrecto|así no)\b",
    r"(?:te olvidaste|olvidaste|quise decir|quería (?:el|la|los|las|una?))\b",
    r"(?:è sbagliato|sbagliato|non è (?:quello|corretto|giusto|così)|non così|hai dimenticato|volevo dire|invece)\b",
    r"(?:(?:isso )?está errado|errado|não é (?:isso|o que|assim)|assim não|(?:você )?esqueceu|eu quis dizer)\b",
    # Dutch, Polish, Russian
    r"(?:dat (?:is fout|klopt niet|is niet)|niet zo|je (?:bent|hebt) .{0,40}vergeten|ik bedoelde)\b",
    r"(?:to (?:jest )?źle|źle|nie tak|to nie (?:tak|to)|zapomniał[ea]ś|chodziło mi)\b",
    r"(?:это )?(?:неверно|неправильно|не так|не то|ты забыл|вы забыли|я имела? в виду)",
    # Chinese, Japanese, Korean
    r"[这那]?(?:不对|不是(?:这样|我)|错了|做错|你(?:忘|漏|弄错|理解错)|我(?:的意思|说的)是|我是说|应该[用是先])",
    r"(?:違(?:う|い)|そうじゃな|そうではな|間違)",
    r"(?:틀렸|그게 아니|아니라|잘못)",
)
_AT_FIRST = re.compile(rf"[\W_]*(?:{_HURDLES}){{0,2}}(?:{'|'.join(_BEGINNINGS)})")
_PHRASES = (
    *("next time", "from now on", "in future,", "in the future,", "i told you", "not what i ", "as i said"),
    *("in zukunft", "künftig", "nächste mal", "nächsten mal", "ab jetzt", "la prochaine fois", "désormais"),
    *("dorénavant", "la próxima vez", "de ahora en adelante", "la prossima volta", "ora in poi", "da próxima vez"),
    *("de agora em diante", "de volgende keer", "voortaan", "następnym razem", "od teraz", "в следующий раз", "впредь"),
    *("下次", "以后都", "以后请", "以后要", "以後", "次から", "次回は", "今後は", "다음부터", "앞으로는"),
)
_INSTEAD = re.compile(
    r"\b(?:use|take|plot|show|write|call) [^.!?\n]{1,60} instead\b|\binstead of [^.!?\n]{1,60}(?:,| use)"
    r"|\b(?:nimm|nutze|verwende) [^.!?\n]{1,60} statt"
)


def corrects(words: str) -> bool:
    """Whether these words of a person correct the turn before."""
    said = words[:LOOKED_AT].casefold()
    if _AT_FIRST.match(said) or any(phrase in said for phrase in _PHRASES):
        return True
    return ("instead" in said or " statt" in said) and _INSTEAD.search(said) is not None
