"""Prose of five scripts for measuring tokens: English and code from the standard library, the others written by hand."""

from __future__ import annotations

import base64
import inspect
import json.decoder
import pydoc_data.topics
import re
import shlex
import statistics
from collections.abc import Callable
from random import Random

VIETNAMESE = """
Báo cáo doanh thu quý ba cho thấy khu vực miền Bắc tăng trưởng chậm hơn dự kiến.
Tôi đã đọc tập tin và thấy có mười hai dòng bị thiếu giá trị ở cột ngày giao hàng.
Nếu bạn muốn, tôi có thể vẽ biểu đồ so sánh số lượng đơn hàng theo từng tháng.
Hôm qua trời mưa rất to nên nhiều chuyến xe bị hoãn và khách phải chờ đến tối.
Mô hình hồi quy tuyến tính không phù hợp vì phương sai thay đổi theo thời gian.
Chúng ta nên kiểm tra lại kết nối với cơ sở dữ liệu trước khi chạy lại toàn bộ quy trình.
Bà tôi thường kể chuyện ngày xưa, khi cả làng cùng nhau ra đồng gặt lúa dưới trăng.
Kết quả kiểm định cho thấy sự khác biệt giữa hai nhóm không có ý nghĩa thống kê.
Xin lỗi, lệnh vừa rồi thất bại vì thư mục đích không tồn tại trên máy chủ.
Giá cà phê xuất khẩu đã giảm ba tuần liên tiếp, trong khi giá gạo vẫn ổn định.
Bạn có thể giải thích vì sao hàm này trả về danh sách rỗng khi đầu vào có khoảng trắng không?
Thành phố dự định trồng thêm hai nghìn cây xanh dọc theo các con đường mới mở.
"""

CHINESE = """
第三季度的销售报告显示，北方地区的增长速度比预期要慢。
我已经读完文件，发现交货日期一列有十二行缺少数值。
如果你愿意，我可以画一张图，比较每个月的订单数量。
昨天雨下得很大，许多班车晚点，乘客一直等到晚上。
线性回归模型并不合适，因为方差随着时间而变化。
在重新运行整个流程之前，我们应该先检查数据库的连接。
奶奶常常讲起从前的故事，那时全村人在月光下一起收割稻子。
检验结果表明，两组之间的差异没有统计学意义。
抱歉，刚才的命令失败了，因为服务器上不存在目标文件夹。
咖啡的出口价格已经连续三周下跌，而大米的价格保持稳定。
你能解释一下，为什么输入含有空格时这个函数返回空列表吗？
市政府计划在新修的道路两旁再种两千棵树。
"""


def english(random: Random) -> str:
    return random.choice(_PARAGRAPHS)


def vietnamese(random: Random) -> str:
    return " ".join(random.sample(VIETNAMESE.split("\n")[1:-1], 5))


def chinese(random: Random) -> str:
    return "".join(random.sample(CHINESE.split("\n")[1:-1], 8))


def code(random: Random) -> str:
    at = random.randrange(len(_CODE) - 40)
    return "\n".join(_CODE[at : at + 24])


def encoded(random: Random) -> str:
    return base64.b64encode(random.randbytes(random.randrange(200, 500))).decode()


SCRIPTS: dict[str, Callable[[Random], str]] = {
    "English": english,
    "Vietnamese": vietnamese,
    "Chinese": chinese,
    "code": code,
    "base64": encoded,
}

_PARAGRAPHS = [
    paragraph
    for topic in pydoc_data.topics.topics.values()
    for paragraph in re.split(r"\n\s*\n", topic)
    if 250 < len(paragraph) < 1200 and paragraph.count("  ") < 8 and "::=" not in paragraph
]
_CODE = [
    line for module in (json.decoder, shlex, statistics, inspect) for line in inspect.getsource(module).split("\n")
]
