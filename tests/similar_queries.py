"""How well "a similar query" (contract §3, `researched_inferred`) tells the same need from another.

The pairs were labelled before they were measured, by one reader: would somebody who types the second query
within ten minutes of the first still look for the same thing? They are a yardstick for the shadow signal,
not a tuning set: the rule is the contract's and does not follow them.
"""

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from attribution.need import similar, words


class Pair(NamedTuple):
    """Two queries of one conversation, and whether they are after the same thing."""

    script: str
    first: str
    later: str
    same_need: bool


def _pairs(script: str, same_need: bool, *pairs: tuple[str, str]) -> list[Pair]:
    return [Pair(script, first, later, same_need) for first, later in pairs]


PAIRS: Final = (
    # said again, with a word more, fewer, or in another order
    *_pairs(
        "spaced", True,
        ("birthday invitation template", "birthday invitation"),
        ("birthday invitation template", "template birthday invitation pink"),
        ("red running shoes", "running shoes red men"),
        ("export report as pdf", "export report pdf"),
        ("cancel subscription", "cancel my subscription"),
        ("refund policy", "refund policy 2026"),
        ("how to reset password", "reset password"),
        ("Vertrag kündigen", "vertrag kündigen frist"),
        ("facture en double", "facture double"),
        ("cambiar dirección de envío", "cambiar la dirección de envío"),
        ("flight to Berlin Monday", "flights to Berlin on Monday"),
        ("logo blue minimal", "minimal blue logo vector"),
    ),
    # the same in other words
    *_pairs(
        "spaced", True,
        ("cancel subscription", "stop automatic renewal"),
        ("money back", "refund"),
        ("sneakers", "sports shoes"),
        ("invitation card for a birthday", "bday invite"),
        ("error 0x80070057", "parameter is incorrect windows update"),
        ("slow laptop", "computer takes forever to start"),
        ("sunset picture", "photo of the evening sky"),
        ("colour palette pastel", "soft colors"),
    ),
    # words in common, another need
    *_pairs(
        "spaced", False,
        ("refund policy", "privacy policy"),
        ("export report as pdf", "export report as csv"),
        ("birthday invitation", "wedding invitation"),
        ("change delivery address", "change billing address"),
        ("python list sort", "python dict sort"),
        ("flight to Berlin", "train to Berlin"),
        ("version 2.3 release notes", "version 2.4 release notes"),
        ("blue logo", "blue sky"),
        ("invoice March", "invoice April"),
        ("reset password", "reset router"),
    ),
    # nothing in common
    *_pairs(
        "spaced", False,
        ("birthday invitation", "tax form"),
        ("refund", "opening hours"),
        ("red shoes", "garden chair"),
        ("cancel subscription", "dark mode"),
        ("sunset picture", "company logo"),
        ("slow laptop", "flight to Rome"),
        ("prix de gros", "mot de passe oublié"),
        ("rechnung drucken", "konto löschen"),
    ),
    *_pairs(
        "unspaced", True,
        ("生日邀请函", "生日邀请函模板"),
        ("如何申请退款", "申请退款"),
        ("自动续费关闭", "关闭自动续费"),
        ("发票抬头修改", "修改发票抬头"),
        ("红色运动鞋", "红色运动鞋男"),
        ("退款多久到账", "退款到账时间"),
        ("誕生日の招待状", "誕生日の招待状 テンプレート"),
        ("パスワードを忘れた", "パスワード再設定"),
        ("版本更新说明", "更新说明"),
        ("เปลี่ยนรหัสผ่าน", "วิธีเปลี่ยนรหัสผ่าน"),
    ),
    *_pairs(
        "unspaced", True,
        ("退钱", "申请退款"),
        ("取消订阅", "关闭自动续费"),
        ("电脑很卡", "开机速度慢"),
        ("日落照片", "傍晚天空的图"),
        ("スニーカー", "運動靴"),
    ),
    *_pairs(
        "unspaced", False,
        ("生日邀请函", "婚礼邀请函"),
        ("修改收货地址", "修改账单地址"),
        ("三月发票", "四月发票"),
        ("导出报告", "导入报告"),
        ("退款政策", "隐私政策"),
        ("红色运动鞋", "红色连衣裙"),
        ("誕生日の招待状", "結婚式の招待状"),
    ),
    *_pairs(
        "unspaced", False,
        ("生日邀请函", "报税表格"),
        ("退款", "营业时间"),
        ("公司标志", "日落照片"),
        ("取消订阅", "深色模式"),
        ("パスワードを忘れた", "請求書の印刷"),
    ),
    *_pairs(
        "mixed", True,
        ("iPhone 15 手机壳", "iPhone 15 透明手机壳"),
        ("error 404 怎么办", "404 error 怎么办"),
        ("Python 列表排序", "python 列表 排序"),
        ("PDF 导出失败", "导出 PDF 失败"),
        ("logo 设计 蓝色", "蓝色 logo 设计"),
        ("VIP 会员取消", "取消 VIP 会员"),
    ),
    *_pairs(
        "mixed", False,
        ("iPhone 15 手机壳", "iPhone 15 充电器"),
        ("Python 列表排序", "Python 字典合并"),
        ("PDF 导出失败", "PDF 打印设置"),
        ("VIP 会员取消", "VIP 会员价格"),
        ("Excel 模板", "Word 字体"),
    ),
)  # fmt: skip


class Agreement(NamedTuple):
    """How the signal and the labels agree on some pairs."""

    both: int
    only_signal: int
    only_label: int
    neither: int

    @property
    def precision(self) -> float:
        """Of the pairs the signal calls similar, the share that is the same need."""
        return self.both / (self.both + self.only_signal)

    @property
    def recall(self) -> float:
        """Of the pairs of the same need, the share the signal finds."""
        return self.both / (self.both + self.only_label)

    @property
    def kappa(self) -> float:
        """Cohen's kappa: agreement beyond chance."""
        n = sum(self)
        observed = (self.both + self.neither) / n
        signal, label = (self.both + self.only_signal) / n, (self.both + self.only_label) / n
        chance = signal * label + (1 - signal) * (1 - label)
        return (observed - chance) / (1 - chance)


def agreement(pairs: Sequence[Pair]) -> Agreement:
    """Count the four cases."""
    found = [(similar(words(one.first), words(one.later)), one.same_need) for one in pairs]
    return Agreement(
        *(found.count(case) for case in [(True, True), (True, False), (False, True), (False, False)])
    )


def rows() -> Iterator[tuple[str, ...]]:
    """A row a script, and one for all: pairs, the four cases, precision, recall, kappa."""
    for script in (*dict.fromkeys(pair.script for pair in PAIRS), "all"):
        some = [pair for pair in PAIRS if script in (pair.script, "all")]
        found = agreement(some)
        shares = (found.precision, found.recall, found.kappa)
        yield (script, str(len(some)), *map(str, found), *(f"{share:.2f}" for share in shares))


HEADINGS: Final = (
    *("script", "pairs", "both", "only the signal", "only the label", "neither"),
    *("precision", "recall", "kappa"),
)
