"""What hostile English tells an agent to do: to forget what it was told, to be somebody else, to say nothing of it, to
allow everything, to give secrets away, to run what a server sends."""

# ruff: noqa: E501 - a pattern is read as one line

from __future__ import annotations

from hermes_kernel.core.learning.threat_rules import Rule, rule

OVERRIDE = "It tells the agent to ignore its instructions"
PERSONA = "It tells the agent to be something else, without its rules"
PROMPT = "It wants the agent's system prompt, or brings one of its own"
DECEIVE = "It tells the agent to keep something from the person"
APPROVE = "It tells the agent to allow what a person should be asked about"
SEND = "It wants secrets or a history sent away"
READ = "It reads keys or other secrets of the person"
REMOTE = "It runs what a server sends, unseen"
OBEY = "It tells the agent to obey a text from elsewhere"

_OLD = r"(?:previous|previously|prior|preceding|above|earlier|foregoing|former|initial|original|existing)"
_ORDERS = r"(?:instructions?|prompts?|directives?|guidelines?|orders|guardrails?|programming)"
_RULES = rf"(?:{_ORDERS}|rules?|commands|constraints|restrictions|training|polic(?:y|ies))"
_ALL = r"(?:all|any|every|each|of|the|your|these|those|other|my|our|its)"
_PERSON = r"(?:the |this |that |your |any |our )?(?:user|human|person|operator|owner|customer)s?\b"
INJECTION: tuple[Rule, ...] = (
    rule(
        "injection",
        OVERRIDE,
        "ignore ignores ignoring disregard disregards disregarding forget override overrides",
        rf"(?: {_ALL}){{0,4}} {_OLD}(?:\W{{1,3}}\w{{1,20}}){{0,2}}?\W{{1,3}}{_ORDERS}\b"
        rf"|(?: {_ALL}){{0,4}} {_ORDERS}\W{{1,3}}(?:above|before|given|you|so far|that|from|and)\b",
    ),
    rule(
        "injection",
        OVERRIDE,
        "ignore ignores disregard disregards forget",
        rf"(?: {_ALL}){{0,4}} {_OLD}(?:\W{{1,3}}\w{{1,20}}){{0,2}}?\W{{1,3}}{_RULES}\b"
        rf"|(?: (?:all|any|every)(?: {_ALL}){{0,3}}) (?:{_OLD}\W{{1,3}})?(?:\w{{1,20}} )?(?:{_ORDERS}|{_OLD} (?:context|messages))\b"
        rf"|(?: {_ALL}){{0,3}} your (?:\w{{1,20}} ){{0,2}}?{_RULES}\b"
        r"|(?: \w{1,10}){0,3} (?:everything|anything|all|what)(?: that| of it)? (?:you|i)(?:'ve)? (?:were|have been|was|know|said|learned|learnt|told)\b"
        r"|(?: all of| everything| all) (?:the )?above (?:and|this|instead)\b",
    ),
    rule(
        "injection",
        OVERRIDE,
        "ignore disregard forget override bypass circumvent evade disable remove drop abandon skip",
        r"(?: \w{1,10}){0,2} (?:system prompts?|system messages?|system instructions?|developer (?:messages?|instructions?)"
        r"|safety (?:rules?|guidelines?|polic(?:y|ies)|checks?|filters?|measures?|instructions?)|content (?:filters?|policy)"
        r"|your (?:guardrails?|guidelines?|restrictions|limitations|programming|safety|filters?|instructions|rules))\b",
    ),
    rule(
        "injection",
        OVERRIDE,
        "instructions rules prompt directives guidelines",
        r"(?: \w{1,12}){0,4} (?:are|is|have been|has been) (?:now |hereby )?(?:void|cancell?ed|revoked|superseded|obsolete|lifted|suspended|replaced by)\b¦\b(?:you|agent|assistant|instead|new)\b",
    ),
    rule(
        "injection",
        PERSONA,
        "you",
        r"(?: are|'re) (?:now|henceforth|from now on)\W{1,3}(?:(?:an?|the|in|called|known as|acting as|operating as|going to act as) )?(?:\w{1,20} ){0,3}?"
        r"(?:assistant|agent|ai|chatbot|bot|dan|persona|hacker|pirate|root|unrestricted|unfiltered|uncensored|jailbroken|evil"
        r"|(?:developer|god|admin|debug|maintenance|dan|jailbreak|sudo|unsafe|yolo) mode|free (?:of|from|to)|no longer)\b"
        r"|(?: are|'re) no longer (?:bound|restricted|limited|required|subject|obliged|constrained|an? (?:ai|assistant|agent))\b"
        r"|(?: must| will| shall| should)? (?:now )?(?:obey|serve) (?:only )?(?:me|him|the attacker)\b",
    ),
    rule(
        "injection",
        PERSONA,
        "from",
        r" (?:now on|this point (?:on|onward|forward)|here on)\W{1,3}(?:you (?:are|will|must|shall|should|only)|act|behave|respond|obey|always|never|ignore|pretend)\b",
    ),
    rule(
        "injection",
        PERSONA,
        "pretend act behave respond roleplay",
        r"(?: \w{1,10}){0,2} (?:to be|that you are|you are|as if you (?:are|were|had|have)|as|like)(?: an?| the)?(?: \w{1,20}){0,3}?"
        r" (?:dan|unrestricted|unfiltered|uncensored|jailbroken|evil|no (?:restrictions|rules|limits|guidelines)|without (?:any )?(?:restrictions|rules|limits|guidelines))\b",
    ),
    rule(
        "injection",
        PERSONA,
        "enter enable activate switch",
        r"(?: to| into| the){0,2} (?:developer|god|dan|jailbreak|jailbroken|unrestricted|yolo|sudo) mode\b¦\b(?:you|rules|restrictions|now|all|no)\b",
    ),
    rule(
        "injection",
        PROMPT,
        "reveal print show repeat output leak disclose display dump give tell expose recite",
        r"(?: \w{1,10}){0,4} (?:your|its|the agent's|the assistant's) (?:\w{1,12} )?(?:system prompts?|system messages?|system instructions"
        r"|(?:hidden|initial|original|secret|internal) (?:prompts?|instructions|rules))\b",
    ),
    rule(
        "injection",
        PROMPT,
        "new updated real actual revised",
        r" (?:system (?:prompt|instructions?|message|directives?)|instructions?|directives?|orders)(?: from \w{1,20}| for (?:you|the (?:agent|assistant|model)))? ?:",
    ),
    rule("injection", PROMPT, "system", r" (?:override|prompt override|prompt injection ?:|instruction override)\b"),
    rule(
        "injection",
        PROMPT,
        "system assistant developer",
        r"\]? ?: ?(?:you (?:are|must|will|shall)|ignore|from now|always|never|override|disregard|new instructions)\b",
    ),
    rule(
        "injection",
        OBEY,
        "obey",
        r"(?: \w{1,10}){0,3} (?:instructions|commands|orders|directives|whatever|everything|anything)(?: \w{1,10}){0,4}? (?:https?:|it says there|(?:that|which) (?:page|site|server|url|website))",
    ),
    rule(
        "injection",
        OBEY,
        "fetch open visit load read download get browse",
        r"¦https?:[^\s]{3,200}[ ,;]{1,3}(?:and|then)(?: then)? (?:follow|obey|do (?:what|as|everything)|carry out|execute (?:the|its|all) (?:instructions|commands))\b",
    ),
    rule(
        "injection",
        OBEY,
        "decode base64 decrypt rot13",
        r"¦\b(?:and|then)(?: then)? (?:follow|obey|carry out|do what it says|execute (?:it|the result|what))\b",
    ),
)

DECEPTION: tuple[Rule, ...] = (
    rule(
        "injection",
        DECEIVE,
        "not never t dont",
        rf" (?:ever |to )?(?:tell|inform|alert|notify|warn) {_PERSON}(?! (?:to|how|which)\b)"
        rf"|(?: ever)? (?:mention|reveal|disclose|report|show|tell|say|explain|expose)(?: any of| all of)? (?:this|these|that|it|the above)(?: \w{{1,15}}){{0,4}}? to {_PERSON}"
        rf"|(?: ever)? let {_PERSON} (?:know|see|notice|find out|learn)\b"
        r"|(?: ever)? (?:mention|reveal|disclose) (?:this|these) (?:instructions?|rules?|message|note|entry|steps?|skill|memory)\b",
        commands=False,
    ),
    rule(
        "injection",
        DECEIVE,
        "without",
        rf" (?:telling|informing|notifying|alerting|warning) {_PERSON}|(?: the)? {_PERSON}(?:'s)? (?:knowing|noticing|knowledge)\b",
        negated=True,
    ),
    rule(
        "injection",
        DECEIVE,
        "hide conceal keep withhold",
        rf" (?:this|it|that|these|all of this|these (?:steps|actions|instructions)|your \w{{1,15}}|what you \w{{1,15}})(?: an?)?(?: secret| hidden| private| confidential| quiet)? from {_PERSON}",
    ),
    rule(
        "injection",
        DECEIVE,
        "secretly covertly stealthily quietly silently",
        r" (?:send|upload|post|forward|exfiltrate|transmit|leak|copy|email|report|share|collect|record)\b",
    ),
    rule("injection", DECEIVE, "lie deceive mislead", rf"(?: to)? {_PERSON}"),
)

APPROVALS: tuple[Rule, ...] = (
    rule(
        "injection",
        APPROVE,
        "approvals approval",
        r"['\"]?\]? ?(?:=|:|to|is) ?['\"]?(?:allow|off|none|false|never|disabled|auto)\b(?! ?\|)",
        commands=False,
    ),
    rule(
        "injection", APPROVE, "config configure set", r" approvals? (?:to )?['\"]?(?:allow|off|none)\b", commands=False
    ),
    rule(
        "injection",
        APPROVE,
        "always automatically silently blindly",
        r" (?:approve|accept|allow|grant|confirm|say yes to|authori[sz]e)(?: (?:all|any|every|everything|anything|tool|shell|terminal|dangerous|risky|requests?|commands?|calls?|actions?)\b|\W{0,3}(?:\n|$|[.;]))",
        negated=True,
    ),
    rule(
        "injection",
        APPROVE,
        "approve allow grant authorise authorize accept",
        r" (?:all|any|every|each) (?:\w{1,12} ){0,2}?(?:commands?|calls?|tools?|requests?|actions?|approvals?|permissions?)(?: \w{1,12}){0,3}? (?:automatically|without asking|by default|blindly|silently)\b",
        negated=True,
    ),
    rule(
        "injection",
        APPROVE,
        "disable bypass circumvent skip deactivate evade suppress turn switch",
        r"(?: off)?(?: the| all| any| your| its| every| these){0,2} (?:approvals?|approval (?:\w{1,12})|confirmation prompts?|permission (?:checks?|prompts?)|safety checks?|guardrails?|consent)\b",
        negated=True,
    ),
    rule(
        "injection",
        APPROVE,
        "never not t dont",
        r" (?:ever )?(?:ask|wait|request|prompt)(?: \w{1,10}){0,2}? for (?:an? |the |any |their )?(?:approval|permission|consent|confirmation)\b",
    ),
    rule("injection", APPROVE, "dangerously", r"[-_ ]skip[-_ ]permissions\b", commands=False),
)

ENGLISH = (*INJECTION, *DECEPTION, *APPROVALS)
