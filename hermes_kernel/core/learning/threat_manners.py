"""The same as in `threat_words`, asked politely, from behind, and in smaller languages."""

# ruff: noqa: E501 - a pattern is read as one line

from __future__ import annotations

from hermes_kernel.core.learning.threat_rules import Rule, rule
from hermes_kernel.core.learning.threat_words import APPROVE, DECEIVE, OBEY, OVERRIDE, PERSONA, SEND

_OLD = r"(?:previous|previously|prior|preceding|above|earlier|former|initial|original)"
_ORDERS = r"(?:instructions?|prompts?|directives?|guidelines?|guidance|orders|rules)"
_ALL = r"(?: (?:all|any|every|of|the|your|these|those|other))"
_PERSON = r"(?:the |this |your )?(?:user|human|person|operator|owner)s?\b"

MANNERS: tuple[Rule, ...] = (
    rule(
        "injection",
        OVERRIDE,
        "ignore ignoring disregard disregarding overlook overlooking forget forgetting neglect",
        rf"{_ALL}{{0,4}} {_OLD}(?: \w{{1,20}})? {_ORDERS}\b"
        rf"|{_ALL}{{0,3}} {_ORDERS} (?:above|before this|you (?:were|have been) given)\b"
        r"| (?:the |your |any )?(?:developer|operator|system)(?:'s|s')? (?:instructions?|messages?|prompts?|rules)\b"
        r"| (?:the )?(?:system prompt|system message)\b"
        r"| (?:what|whatever) (?:the )?(?:system (?:message|prompt)|developer|instructions) (?:says?|said)\b"
        r"| (?:everything|all|anything) (?:that is )?above(?= ?[;,.:]| and (?:then |instead )?\w| from)",
    ),
    rule(
        "injection",
        OVERRIDE,
        "set put leave",
        rf"{_ALL}{{0,3}}(?: {_OLD})? ?{_ORDERS}¦\baside\b| aside{_ALL}{{0,3}}(?: {_OLD} {_ORDERS}| {_ORDERS} (?:you|above|from|given|before))\b",
        commands=False,
    ),
    rule(
        "injection",
        OVERRIDE,
        "pay paying give",
        rf" (?:any|no|little|less|further|more) (?:attention|heed|weight) to{_ALL}{{0,3}} {_OLD} {_ORDERS}\b",
        commands=False,
    ),
    rule(
        "injection",
        OVERRIDE,
        "not never dont t no",
        rf" (?:ever |longer )?(?:follow|obey|heed|honou?r|apply){_ALL}{{0,3}} (?:{_OLD} {_ORDERS}|{_ORDERS} (?:you (?:were|have been)|above|given|from before))\b",
        commands=False,
    ),
    rule(
        "injection",
        OVERRIDE,
        "your",
        rf" (?:{_OLD} )?{_ORDERS} (?:do not|don't|no longer) (?:apply|count|matter|hold)\b",
        commands=False,
    ),
    rule(
        "injection",
        PERSONA,
        "pretend act behave imagine",
        r"(?: \w{1,10}){0,3}? (?:an? )?(?:ai|assistant|agent|model|bot)? ?(?:without|with no|free of|has no|have no|had no)(?: any)?(?: \w{1,12})? (?:restrictions|rules|limits|guidelines|filters|limitations)\b",
    ),
    rule(
        "injection",
        PERSONA,
        "you",
        r" (?:are|become) (?:now )?(?:dan|an? (?:unrestricted|unfiltered|uncensored|jailbroken) \w{1,12})\b| have no (?:restrictions|rules|limits)\b",
    ),
    rule(
        "injection",
        OBEY,
        "base64 rot13 hex",
        r"¦\b(?:to be |and )?(?:decoded|decode it|decode this)¦\b(?:and|then)(?: then)? (?:obey|obeyed|follow|followed|execute|executed|carried out|done)\b",
    ),
    rule(
        "injection",
        DECEIVE,
        "hide conceal keep",
        rf" (?:this|these|that|those|all) (?:\w{{1,15}} ){{1,2}}?(?:secret |hidden )?from {_PERSON}(?! interface)",
    ),
    rule(
        "injection",
        DECEIVE,
        "not never dont t",
        rf" (?:ever )?(?:mention|reveal|disclose|report|admit|say)(?: anything| a word)? to {_PERSON}",
        commands=False,
    ),
    rule(
        "injection",
        APPROVE,
        "run execute do carry perform",
        r" (?:all|any|every|each|everything|anything)(?: \w{1,12}){0,3}? without (?:asking|any (?:approval|confirmation)|approval|confirmation|permission|consent)\b",
        negated=True,
    ),
    rule(
        "injection",
        APPROVE,
        "answer say reply respond",
        r" (?:with )?['\"]?yes['\"]? (?:to|whenever|when|for)(?: \w{1,12}){0,3}? (?:approvals?|permissions?|confirmations?|consent)\b",
        negated=True,
    ),
    rule(
        "injection",
        APPROVE,
        "approvals",
        r" (?:are|were|have been) (?:now )?(?:off|disabled|suspended|switched off|unnecessary)\b",
    ),
    rule(
        "injection",
        APPROVE,
        "user person human owner",
        r" (?:has |have )?(?:already |previously )?(?:approved|consented to|agreed to|authori[sz]ed)(?: \w{1,10})? (?:all|every|everything|any)\b",
        commands=False,
    ),
    rule(
        "secret",
        SEND,
        "http https ftp",
        r"://\S{0,200}\$\{?\w{0,30}(?:key|token|secret|passw|credential)",
        commands=False,
    ),
    rule(
        "secret",
        SEND,
        "send post upload forward mail paste",
        r"(?: \w{1,12}){0,4}? (?:\S{0,40}/)?\.(?:env|netrc|pgpass|npmrc|pypirc)\b¦(?:https?:|www\.|\w@\w)",
    ),
    # Dutch, Polish, Turkish, Arabic, Hindi, Italian
    rule(
        "injection",
        OVERRIDE,
        "negeer vergeet",
        r"(?: \w{1,12}){0,3}? (?:voorgaande|vorige|eerdere|bovenstaande) (?:instructies|opdrachten|regels|aanwijzingen)\b",
    ),
    rule(
        "injection",
        OVERRIDE,
        "zignoruj ignoruj zapomnij pomin",
        r"(?: \w{1,12}){0,3}? (?:poprzedni\w{1,3}|wczesniejsz\w{1,3}|powyzsz\w{1,3}) (?:instrukcj\w{1,3}|polece\w{1,3}|zasad\w{0,3}|wskazow\w{1,3})\b",
    ),
    rule(
        "injection",
        OVERRIDE,
        "onceki yukaridaki",
        r"(?: \w{1,12}){0,2}? (?:talimat|komut|kural|yonerge)\w{0,8}¦\b(?:yok say|gormezden gel|unut|dikkate alma)",
    ),
    rule(
        "injection",
        OVERRIDE,
        "تجاهل انس تجاهلي",
        r"(?: \w{1,12}){0,2}? (?:التعليمات|الأوامر|التوجيهات|القواعد)(?: \w{1,12})? (?:السابقة|أعلاه)",
    ),
    rule(
        "injection",
        OVERRIDE,
        "ignora dimentica ignorate",
        r"(?: \w{1,12}){0,3}? (?:istruzioni|regole|indicazioni|direttive) (?:precedenti|di sistema|sopra|iniziali)\b",
    ),
)
