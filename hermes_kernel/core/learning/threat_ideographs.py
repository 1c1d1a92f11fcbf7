"""What hostile texts say in languages without spaces between words, and in Korean: the same as in `threat_words`."""

from __future__ import annotations

from hermes_kernel.core.learning.threat_rules import Rule, rule
from hermes_kernel.core.learning.threat_words import APPROVE, DECEIVE, OVERRIDE, PERSONA, PROMPT, SEND

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
        r".{0,20}?(?:지시|명령|지침|프롬프트|규칙).{0,24}?(?:무시(?!하지 마)|잊어)",
    ),
    rule("injection", DECEIVE, "사용자에게 사용자한테", r".{0,30}?(?:말하지 마|알리지 마|숨기|비밀)", commands=False),
)
