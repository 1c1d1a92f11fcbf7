"""What hostile texts say in other large languages: the same as in `threat_words`."""

# ruff: noqa: E501, RUF001 - a pattern is read as one line; the letters are meant

from __future__ import annotations

from hermes_kernel.core.learning.threat_manners import MANNERS
from hermes_kernel.core.learning.threat_rules import Rule, rule
from hermes_kernel.core.learning.threat_words import APPROVE, DECEIVE, OVERRIDE, PERSONA, PROMPT, SEND

LETTERS: tuple[Rule, ...] = (
    *MANNERS,
    # Spanish and Portuguese
    rule(
        "injection",
        OVERRIDE,
        "ignora ignore ignorad ignoren olvida olvide olvidad descarta descarte omite desatiende esqueca esquece desconsidere desconsidera",
        r"¦\b(?:instrucciones|indicaciones|ordenes|directrices|reglas|instrucoes|ordens|regras|diretrizes|mensajes)\b¦\b(?:anteriores|previas|precedentes|del sistema|de arriba|do sistema|acima|iniciales)"
        r"|¦\b(?:anteriores|previas|tus) (?:instrucciones|indicaciones|ordenes|reglas)\b|¦\bsuas (?:instrucoes|regras)\b",
    ),
    rule(
        "injection",
        PERSONA,
        "ahora agora",
        r" (?:eres|voce e|es) (?:una?|o|um|uma|el|la) (?:\w{1,20} ){0,3}?(?:ia|asistente|assistente|agente|modelo|bot|hacker|dan|pirata)\b|¦\bsin (?:restricciones|reglas|limites)\b|¦\bsem (?:restricoes|regras)\b",
    ),
    rule(
        "injection",
        PERSONA,
        "partir",
        r" de (?:ahora|este momento|agora)\W{1,3}(?:eres|actua|seras|debes|ignora|obedece|voce (?:e|deve|sera)|aja)\b",
    ),
    rule(
        "injection",
        DECEIVE,
        "no nao nunca",
        r" (?:se |le |lo |les )?(?:se lo |selo )?(?:digas|diga|informes|informe|menciones|mencione|cuentes|reveles|revele|avises|avise|conte|notifiques)\b(?: \w{1,15}){0,4}? (?:al|a la|ao|a|o) (?:usuari[oa]|persona|cliente|dueno)\b",
        commands=False,
    ),
    rule(
        "injection",
        APPROVE,
        "aprueba apruebe aprove aceita acepta acepte autoriza",
        r" (?:siempre|sempre|automaticamente|tod[oa]s?)\b",
    ),
    rule(
        "injection", APPROVE, "siempre sempre", r" (?:aprueba|apruebe|aprove|acepta|acepte|autoriza|autorice|permite)\b"
    ),
    rule(
        "injection",
        APPROVE,
        "desactiva desactive desative deshabilita omite salta",
        r"¦\b(?:aprobacion|aprobaciones|aprovacao|aprovacoes|confirmacion|confirmaciones|comprobaciones de seguridad)",
    ),
    rule(
        "secret",
        SEND,
        "envia envie enviad manda mande sube suba publica reenvia encaminhe",
        r"¦\b(?:claves?|contrasenas?|credenciales|tokens?|secretos|variables de entorno|historial|chaves?|senhas?|credenciais|segredos|variaveis de ambiente|historico|\.env)\b¦(?:https?:|@\w|\bservidor\b)",
    ),
    rule(
        "injection",
        PROMPT,
        "revela revele muestra muestre imprime mostre mostra",
        r"¦\b(?:tu|tus|su|seu|suas|del|do) (?:prompt|instrucciones|instrucoes|sistema|mensaje)(?: del| de| do)? ?(?:sistema|iniciales|ocultas|prompt)?\b(?<=sistema|iciales|ocultas)",
    ),
    # French
    rule(
        "injection",
        OVERRIDE,
        "ignore ignorez oublie oubliez neglige negligez ecarte",
        r"¦\b(?:instructions?|consignes?|regles?|directives?|ordres)\b¦\b(?:precedente?s?|anterieure?s?|ci-dessus|du systeme|initiales?|plus haut)\b|¦\b(?:tes|vos) (?:instructions|consignes|regles|directives)\b",
    ),
    rule(
        "injection",
        OVERRIDE,
        "tiens tenez",
        r" (?:pas|aucun) compte (?:de |des )¦\b(?:instructions|consignes|regles)\b",
        commands=False,
    ),
    rule(
        "injection",
        PERSONA,
        "tu vous",
        r" (?:es|etes) (?:maintenant|desormais|dorenavant) (?:une? |le |la )(?:\w{1,20} ){0,3}?(?:ia|assistante?|agente?|modele|bot|robot|pirate|hacker|dan)\b",
    ),
    rule(
        "injection",
        PERSONA,
        "partir",
        r" de maintenant\W{1,3}(?:tu|vous) (?:es|etes|dois|devez|seras|serez|vas|obeis)\b",
    ),
    rule(
        "injection",
        DECEIVE,
        "ne n",
        r"['\u2019 ]?(?:lui |le |la |en )?(?:dis|dites|dit|informe|informez|previens|prevenez|mentionne|mentionnez|revele|revelez|parle|parlez|signale|avertis)\b(?: \w{1,12}){0,4}? (?:a )?l['\u2019](?:utilisateur|utilisatrice|usager|humain)",
        commands=False,
    ),
    rule(
        "injection",
        APPROVE,
        "approuve approuvez accepte acceptez autorise autorisez valide",
        r" (?:toujours|systematiquement|automatiquement|toutes? )",
    ),
    rule(
        "injection",
        APPROVE,
        "desactive desactivez contourne contournez",
        r"¦\b(?:approbations?|confirmations?|validations?|controles? de securite|garde-fous)\b",
    ),
    rule(
        "secret",
        SEND,
        "envoie envoyez transmets transmettez publie publiez televerse",
        r"¦\b(?:cles?|mots? de passe|identifiants|jetons?|secrets?|variables d['\u2019]environnement|historique|\.env)\b¦(?:https?:|@\w|\bserveur\b)",
    ),
    rule(
        "injection",
        PROMPT,
        "revele revelez affiche affichez montre montrez",
        r"¦\b(?:ton|tes|votre|vos|le|les) (?:prompt|message|instructions?)s? (?:du |de )?(?:systeme|initial(?:es)?|cachees?)\b",
    ),
    # German
    rule(
        "injection",
        OVERRIDE,
        "ignoriere ignorier ignorieren vergiss vergesst vergessen missachte missachten ubergehe",
        r"¦\b(?:vorherigen?|bisherigen?|obigen?|fruheren?|vorigen?|vorangegangenen?|deine[nr]?|ihre[nr]?|ursprunglichen?) (?:\w{1,20} )?(?:anweisung(?:en)?|instruktionen|regeln|befehle|vorgaben|anleitungen|systemprompt)\b|¦\b(?:anweisungen|instruktionen|vorgaben) (?:oben|davor|bisher|des systems)\b",
    ),
    rule(
        "injection",
        PERSONA,
        "du sie",
        r" (?:bist|sind) (?:jetzt|nun|ab sofort|ab jetzt) (?:eine? |der |die )?(?:\w{1,20} ){0,3}?(?:ki|assistent(?:in)?|agent(?:in)?|modell|bot|hacker|pirat|dan|ohne (?:regeln|einschrankungen))\b",
    ),
    rule(
        "injection",
        PERSONA,
        "ab",
        r" (?:jetzt|sofort|nun) (?:bist|sollst|musst|wirst|gehorchst|handelst|antwortest) du\b",
    ),
    rule(
        "injection",
        DECEIVE,
        "sag sage sagen informiere informieren verrate verraten erzahle erzahl erwahne benachrichtige",
        r"(?: \w{1,12}){0,2}? (?:dem|der|den|gegenuber dem|gegenuber der|unsere[mn]) (?:nutzer|benutzer|anwender|person|menschen|kunden)(?:in)? (?:\w{1,12} )?(?:nichts|nicht|niemals)\b",
        commands=False,
    ),
    rule(
        "injection",
        APPROVE,
        "genehmige bestatige erlaube genehmigen akzeptiere",
        r" (?:immer|stets|automatisch|alles|jede[nrs]?|alle)\b",
    ),
    rule("injection", APPROVE, "immer stets", r" (?:alles )?(?:genehmigen|bestatigen|erlauben|zustimmen|freigeben)\b"),
    rule(
        "injection",
        APPROVE,
        "deaktiviere umgehe uberspringe schalte deaktivieren umgehen",
        r"¦\b(?:freigaben?|genehmigung(?:en)?|bestatigung(?:en)?|ruckfragen?|sicherheitsprufung(?:en)?)\b",
        negated=True,
    ),
    rule(
        "secret",
        SEND,
        "sende send senden schicke schick ubertrage lade poste leite",
        r"¦\b(?:schlussel|passworter|passwort|zugangsdaten|tokens?|geheimnisse|umgebungsvariablen|verlauf|\.env|api-keys?)\b¦(?:https?:|@\w|\bserver\b)",
    ),
    # Vietnamese
    rule(
        "injection",
        OVERRIDE,
        "bo phot quen lo",
        r"(?: qua| lo| di| het| moi| tat ca| cac| nhung| toan bo){0,6} (?:huong dan|chi dan|chi thi|menh lenh|lenh|quy tac|yeu cau) (?:\w{1,8} ){0,2}?(?:truoc|o tren|ben tren|phia tren|he thong|tren day)",
    ),
    rule(
        "injection",
        PERSONA,
        "gio",
        r"(?: tro di| day)?,? (?:ban|mi|ngươi) (?:la mot|la|phai|se) (?:\w{1,10} ){0,3}?(?:tro ly|ai|tac nhan|hacker|mo hinh|dan|tuan lenh|nghe theo)\b",
    ),
    rule(
        "injection",
        DECEIVE,
        "đung khong cho",
        r" (?:\w{1,6} )?(?:noi|bao|tiet lo|thong bao|đe|cho|ke) (?:\w{1,8} ){0,3}?nguoi (?:dung|su dung)\b",
        commands=False,
    ),
    rule("injection", APPROVE, "luon", r"(?: luon)? (?:chap thuan|phe duyet|đong y|cho phep)\b"),
    rule(
        "secret",
        SEND,
        "gui tai đang",
        r"¦\b(?:khoa|mat khau|bien moi truong|thong tin đang nhap|token|lich su|\.env)\b¦(?:https?:|@\w|\bmay chu\b)",
    ),
    # Russian
    rule(
        "injection",
        OVERRIDE,
        "игнорируй игнорируйте игнорировать проигнорируй проигнорируйте забудь забудьте отбрось отмени нарушай",
        r"¦\b(?:предыдущи[ех]|прежни[ех]|прошлы[ех]|вышеуказанны[ех]|свои|твои|ваши|системны[ех]|все) (?:\w{1,20} )?(?:инструкци[ий]|указани[яй]|команды|правила|подсказки|промпты?|приказы)",
    ),
    rule("injection", OVERRIDE, "обращай обращайте", r" внимания на¦(?:инструкции|указания|правила)", commands=False),
    rule(
        "injection",
        PERSONA,
        "теперь отныне",
        r" (?:ты|вы) (?:\w{1,12} ){0,2}?(?:ассистент|агент|бот|модель|хакер|ии|пират|без ограничений|dan|должен|подчиня)",
    ),
    rule("injection", PERSONA, "этого", r" момента (?:ты|вы) "),
    rule(
        "injection",
        DECEIVE,
        "не никогда",
        r" (?:не )?(?:говори|говорите|сообщай|сообщайте|рассказывай|рассказывайте|упоминай|показывай|раскрывай)(?: \w{1,12}){0,3}? (?:пользовател|человек|владельц)",
        commands=False,
    ),
    rule(
        "injection",
        APPROVE,
        "всегда автоматически",
        r" (?:одобряй|одобряйте|разрешай|разрешайте|подтверждай|подтверждайте|соглашайся)",
    ),
    rule(
        "injection",
        APPROVE,
        "отключи отключите обойди обойдите пропускай",
        r"¦\b(?:подтверждени|одобрени|проверк[иу] безопасности|разрешени)",
    ),
    rule(
        "secret",
        SEND,
        "отправь отправьте отправляй отправляйте перешли загрузи передай пошли",
        r"¦\b(?:ключ|парол|токен|переменные окружения|учетные данные|секрет|истори|\.env)¦(?:https?:|@\w|\bсервер)",
    ),
)
