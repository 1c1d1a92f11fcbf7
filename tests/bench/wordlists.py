"""Words of seven languages, the commonest first, and what their longer tails are put together from. Real words, by hand,
with spaces between."""

from __future__ import annotations

EN = """
the to of a and in is that it for on you with this as be are not have or we can from at if but by an will so what do all
one there which when your has they was data about how more use out like just no would file should time then only were
get other some into make need any them also than now code first set its value new table these two see up because each
after where could may same error run column test over list line here between model add number using rows read check
function work change such result very most while back way before change index down name without does call still used
return find year show through million start second order small large missing plot month average price sales customer
report question answer please think probably instead actually better different following possible example version
output input string key query load save delete create update sort group filter merge join split count total sum mean
median trend season region product store week day hour minute date window server request response timeout retry cache
memory disk thread process signal lock queue message session history search notebook cell kernel variable import module
package install path folder directory script command shell terminal environment setting option default argument
parameter class method object attribute property type integer float boolean array matrix vector frame series label axis
figure color legend title scale log linear regression cluster sample random seed noise signal curve fit predict train
validate score accuracy precision recall loss gradient batch epoch layer weight bias network graph node edge tree branch
commit review merge conflict release deploy rollback monitor alert metric dashboard budget token cost limit rate quota
account invoice payment refund shipping warehouse supplier inventory forecast quarter revenue margin profit growth churn
"""

VI = """
là của và có không được cho các một trong với những này khi đã để từ người đến thì ra vào cũng như trên về phải nhiều làm
theo năm bạn tôi nếu sẽ lại còn nào hay bị số mà dữ liệu bảng cột hàng giá trị lỗi chạy kiểm tra tập tin mô hình kết quả
thời gian tháng ngày tuần khách hàng doanh thu sản phẩm tăng giảm trung bình cao thấp biểu đồ vẽ tính toán tìm kiếm xử lý
thông tin hệ thống phần mềm ứng dụng người dùng mạng máy tính cơ sở phân tích báo cáo danh sách tên mã lệnh hàm biến
chuỗi kiểu đọc ghi xóa thêm sửa đổi cập nhật phiên bản cài đặt thư mục đường dẫn câu hỏi trả lời ví dụ đầu tiên cuối cùng
khác nhau giống trước sau dưới giữa bên ngoài lớn nhỏ mới cũ đúng sai tốt hơn nhất ít rất quá đang chưa vẫn đều chỉ
"""

CS = """
a se v na je že to s z do o i ve pro za k tak jako ale by po jsou není který data soubor jak když jen už nebo jeho také
při byl bylo která může více podle tabulka sloupec hodnota chyba řádek model výsledek čas měsíc den týden zákazník tržby
výrobek růst pokles průměr graf otázka odpověď příklad první poslední jiný stejný před mezi velký malý nový starý správný
dobrý lepší nejlepší velmi příliš ještě vždy nikdy často někdy kde kdy proč protože tedy však například možná určitě
načíst uložit smazat přidat změnit spustit zkontrolovat spočítat vykreslit hledat zobrazit vytvořit použít nastavit
"""

DE = """
die der und in zu den das nicht von sie ist des sich mit dem dass er es ein ich auf so eine auch als an nach wie im für
man aber aus durch wenn nur war noch werden bei hat wir was wird sein einen welche sind oder um haben einer mir über ihm
diese einem ihr uns da zum kann doch vor dieser mich ihn du hatte seine mehr am denn nun unter sehr selbst schon hier bis
habe ihre dann ihnen seiner alle wieder meine gegen vom ganz einzelnen wo muss ohne eines können sei daten datei tabelle
spalte zeile wert fehler ergebnis modell zeit monat tag woche kunde umsatz produkt wachstum rückgang durchschnitt frage
antwort beispiel erste letzte andere gleiche größer kleiner neue alte richtige falsche prüfen laden speichern löschen
hinzufügen ändern ausführen berechnen zeichnen suchen anzeigen erstellen verwenden einstellen übergeben schließen
"""

ZH = """
的 是 在 了 我 不 有 和 这 中 人 也 就 都 一个 我们 可以 数据 文件 表格 如果 没有 什么 问题 时间 使用 需要 进行 或者 因为 所以 但是 然后
现在 已经 怎么 这个 那个 他们 结果 模型 错误 运行 代码 函数 变量 列表 数值 平均 增长 下降 销售 客户 产品 月份 星期 今天 昨天 分析 报告
图表 计算 查询 搜索 读取 保存 删除 添加 修改 更新 版本 安装 目录 路径 答案 例子 第一 最后 不同 相同 之前 之后 之间 大小 新的 正确 更好
非常 可能 应该 必须 开始 结束 系统 网络 服务器 数据库 机器学习 人工智能 北京 上海 桂林 公司 市场 价格 成本 利润 预测 趋势 季度 年度
"""

JA = """
の に は を た が で て と し れ さ ある いる も する から な こと として い や など なっ ない この ため その あっ よう また もの という
あり まで られ なる へ か だ これ によって により おり より による ず なり データ ファイル 表 列 行 値 エラー 実行 コード 関数 変数
リスト 結果 モデル 時間 使用 必要 場合 問題 質問 答え 例 最初 最後 違う 同じ 前 後 間 大きい 小さい 新しい 正しい 平均 増加 減少 売上
顧客 製品 月 週 日 分析 報告 グラフ 計算 検索 読み込む 保存 削除 追加 変更 更新 版 設定 東京 会社 市場 価格 予測 季節 四半期 学習
"""

KO = """
이 그 수 것 있다 하다 되다 없다 않다 나 사람 우리 때 년 한 대한 및 더 데이터 파일 표 열 행 값 오류 실행 코드 함수 변수 목록 결과 모델
시간 사용 필요 경우 문제 질문 대답 예 처음 마지막 다른 같은 앞 뒤 사이 큰 작은 새로운 맞는 평균 증가 감소 매출 고객 제품 월 주 일 분석
보고서 그래프 계산 검색 읽기 저장 삭제 추가 변경 갱신 판 설정 서울 회사 시장 가격 예측 계절 분기 학습 그리고 그러나 그래서 만약 아마 매우
"""

STEMS = {
    "vi": "b c ch d đ g gi h kh l m n ng nh ph qu r s t th tr v x",
    "cs": """prac slov mluv hled stav kres met rozhod počít vysvětl přeprav doplň rozděl spoj vrac zkouš měř važ krát
        delš kratš barv čísl knih škol měst vod les hor slunc večer raní zim letn jarn cest vlak most dom oken dveř stol
        """,
    "de": """arbeits stadt wasser berg haus kinder bahn kraft wagen schiff garten winter sommer feld markt preis zeit
        rechen speicher netz druck strom licht ton bild wort satz buch brief zahl mengen grenz steuer rechts staats
        volks land wald see fluss brücken straßen kirchen schul lehr lern forschungs prüf mess regel tabellen daten
        """,
}
TAILS = {
    "vi": """a á à ả ã ạ an án ang áng anh ao áo ay ây âm ân ấp ê ế ên inh ích iên iệu iết o ó on ong ông ơ ới ơn u ú ùng
        ung ươi ương uyên uyết uốn ưng ữa ẫn ặt ật ục ức oàn oạt uất""",
    "cs": "at ati ování nost nosti ný ná né ného nému ným ství ský ská ské ec ce ci em ech ami ami ům ách il ila ilo",
    "de": """platz plan leiter ordnung führung stelle bau weg werk amt gesetz gebühr prüfung rechnung messung verteilung
        sammlung verwaltung fabrik halle meister schule lehre frage lösung quelle karte liste reihe gruppe""",
    "ko": "은 는 이 가 을 를 에 에서 로 으로 도 만 까지 부터 와 과 의 하고 처럼 보다 마다 이나 라도 에게 입니다 합니다",
}
