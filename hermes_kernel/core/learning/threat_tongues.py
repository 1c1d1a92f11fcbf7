"""What hostile texts say in other large languages: the same as in `threat_words`."""

# ruff: noqa: E501, RUF001 - a pattern is read as one line; the letters are meant

from __future__ import annotations

from hermes_kernel.core.learning.threat_rules import Rule, rule
from hermes_kernel.core.learning.threat_words import APPROVE, DECEIVE, OVERRIDE, PERSONA, PROMPT, SEND

LETTERS: tuple[Rule, ...] = (
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

IDEOGRAPHS: tuple[Rule, ...] = (
    # Chinese
    rule(
        "injection",
        OVERRIDE,
        "忽略 无视 忘记 忘掉 不要理会 不用理会 忽視 無視 忘記 抛弃 违反 覆盖",
        r".{0,8}?(?:之前|以前|上面|上述|先前|此前|以上|前面|所有|全部|系统|系統|你的|一切).{0,10}?(?:指令|指示|提示|规则|規則|命令|说明|說明|设定|限制|约束)",
    ),
    rule(
        "injection",
        PERSONA,
        "你现在是 你現在是 从现在开始 从现在起 從現在開始 從現在起",
        r".{0,4}?(?:你|一个|一個|没有|不受|扮演|服从)",
    ),
    rule(
        "injection",
        DECEIVE,
        "不要 别 切勿 不得 禁止 不能",
        r"(?:把.{0,10})?(?:告诉|告訴|通知|告知|提醒|让|讓|向).{0,4}?(?:用户|用戶|使用者|主人)",
        commands=False,
    ),
    rule("injection", DECEIVE, "瞒着 背着 瞞著", r".{0,3}?(?:用户|用戶|使用者)", commands=False),
    rule("injection", APPROVE, "总是 始终 永远 一律 自动 總是 始終 自動", r"(?:批准|同意|允许|允許|通过所有|放行)"),
    rule(
        "injection",
        APPROVE,
        "关闭 禁用 跳过 绕过 關閉 停用 跳過 繞過",
        r".{0,4}?(?:审批|批准|安全检查|安全檢查|确认提示|權限|权限检查|审核)",
    ),
    rule(
        "secret",
        SEND,
        "发送 上传 提交 发到 发给 發送 上傳 泄露 转发",
        r".{0,20}?(?:密钥|密鑰|密码|密碼|令牌|环境变量|環境變數|凭证|憑證|私钥|聊天记录|历史记录|\.env).{0,40}?(?:https?:|@\w|服务器|伺服器)",
    ),
    rule(
        "secret",
        SEND,
        "密钥 密鑰 密码 密碼 令牌 环境变量 环境變數 凭证 私钥 聊天记录 历史记录",
        r".{0,12}?(?:发送|上传|提交|发到|发给|發送|上傳|传到|转发).{0,30}?(?:https?:|@\w|服务器|伺服器)",
    ),
    rule(
        "injection",
        PROMPT,
        "显示 输出 泄露 打印 透露 告诉我 顯示 輸出",
        r".{0,6}?(?:你的)?(?:系统提示|系統提示|初始指令|隐藏指令)",
    ),
    # Japanese
    rule(
        "injection",
        OVERRIDE,
        "以前の これまでの 上記の 前の すべての 先ほどの 今までの システムの 全ての",
        r".{0,8}?(?:指示|命令|プロンプト|ルール|指令|規則|制約).{0,6}?(?:無視(?!しな)|忘れ(?!な)|破棄|従わな)",
    ),
    rule(
        "injection",
        OVERRIDE,
        "指示 命令 プロンプト ルール",
        r"(?:は|を)?(?:すべて|全て|全部)(?:無視(?!しな)|忘れ(?!な)|破棄)",
    ),
    rule(
        "injection",
        PERSONA,
        "あなたは今から 今からあなたは これからあなたは あなたはもう 今後あなたは",
        r".{0,20}?(?:です|だ|として|なり|行動|ではあり|従|振る舞)",
    ),
    rule(
        "injection",
        DECEIVE,
        "ユーザー 利用者 ユーザ",
        r"(?:に|には|へ)(?:は|も)?.{0,12}?(?:言わな|伝えな|知らせな|教えな|報告しな|見せな|通知しな|秘密に|隠)",
        commands=False,
    ),
    rule("injection", APPROVE, "常に 必ず いつも 自動的に 無条件に", r".{0,8}?(?:承認し|許可し|承認する|許可する)"),
    rule(
        "injection", APPROVE, "承認 確認", r"(?:を|プロンプトを|の手順を)?.{0,3}?(?:無効に|無効化|スキップ|回避|オフに)"
    ),
    rule(
        "secret",
        SEND,
        "鍵 キー パスワード トークン 環境変数 秘密 履歴 認証情報",
        r".{0,12}?(?:を|を全て)?.{0,40}?(?:に|へ)(?:送信|アップロード|送っ|送れ|送り|転送|投稿)",
    ),
    # Korean
    rule(
        "injection",
        OVERRIDE,
        "이전 위의 앞의 모든 기존",
        r".{0,8}?(?:지시|명령|지침|프롬프트|규칙).{0,8}?(?:무시(?!하지 마)|잊어)",
    ),
    rule("injection", DECEIVE, "사용자에게 사용자한테", r".{0,12}?(?:말하지 마|알리지 마|숨기|비밀)", commands=False),
)
