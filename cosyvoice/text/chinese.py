"""What wetext's Chinese rules misread, rewritten into forms that they, or nobody, can misread.

Numbers stay digits wherever wetext reads them well; codes and telephone numbers are spelt out here.
"""

import re
from collections.abc import Callable

from cosyvoice.text import units

_DIGITS = str.maketrans("0123456789", "零一二三四五六七八九")
_TELEPHONE_DIGITS = str.maketrans("0123456789", "零幺二三四五六七八九")  # 一 and 七 sound alike on a line
_RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
_LOWERED = str.maketrans("₀₁₂₃₄₅₆₇₈₉", "0123456789")
_NUMBER = r"(?<![\d.])\d+(?:\.\d+)?"  # only whole ones, or a row of digits takes quadratic time

_UNITS = dict(
    pair.split("=")
    for pair in str.split(
        """
        mmHg=毫米汞柱 mmol/L=毫摩尔每升 μmol/L=微摩尔每升 nmol/L=纳摩尔每升 mmol=毫摩尔 mg/dL=毫克每分升
        g/dL=克每分升 mg/L=毫克每升 μg/L=微克每升 g/L=克每升 μg/m³=微克每立方米 mg/m³=毫克每立方米
        g/m³=克每立方米 IU/L=国际单位每升 mg/kg=毫克每千克 mL/h=毫升每小时 mL/min=毫升每分钟 L/min=升每分钟
        L/h=升每小时 m³/h=立方米每小时 mm/h=毫米每小时 r/min=转每分钟 rpm=转每分钟 bpm=次每分钟 mL=毫升
        cL=厘升 dL=分升 μL=微升 μm=微米 nm=纳米 μg=微克 μs=微秒 hPa=百帕 kPa=千帕 MPa=兆帕 Pa=帕 kV=千伏
        mV=毫伏 V=伏 mAh=毫安时 mA=毫安 kWh=千瓦时 Wh=瓦时 kW=千瓦 MW=兆瓦 W=瓦 GHz=吉赫兹 MHz=兆赫兹
        kHz=千赫兹 Hz=赫兹 dBA=分贝 dB=分贝 lx=勒克斯 lux=勒克斯 lm=流明 kΩ=千欧 MΩ=兆欧 Ω=欧姆 N·m=牛米
        kcal=千卡 cal=卡 kJ=千焦 km²=平方千米 hm²=公顷 m²=平方米 cm²=平方厘米 m³=立方米 cm³=立方厘米
        ㎡=平方米 ㎥=立方米 次/分钟=次每分钟 次/分=次每分 元/斤=元每斤 元/kg=元每千克 元/月=元每月
        元/天=元每天
        """
    )
)
# Other ways to write the same unit, tried in this order.
_SPELLINGS = dict(
    pair.split("=") for pair in str.split("㎎=mg ㎏=kg ㎜=mm ㎝=cm ㎞=km m2=m² m3=m³ u=μ µ=μ l=L")
)
_UNIT_NAMES = units.with_spellings(_UNITS, _SPELLINGS)
_UNIT = re.compile(
    rf"(?<![A-Za-z])({_NUMBER}|比[一二三四五六七八九十百零]+)\s?("
    + units.any_of(_UNIT_NAMES)
    + r")(?![A-Za-z0-9²³/])"
)

_CODE_WORDS = (
    "房间号?|教室|会议室|病房|宿舍|房号|编号|工号|学号|单号|订单号?|尾号|密码|验证码|取件码|取餐码|车牌号?|工位|代码"
    "|批号|单元|序列号|邮编|门牌号?|床号|座位号|身份证号?|账号|卡号|口令|QQ号?|ID"
)
_TELEPHONE_WORDS = "电话|热线|手机|号码|拨打|致电|呼叫|分机|客服|火警|匪警|报警|急救|拨"
_LINK = r"(?:号码?)?(?:[是为：:]|请拨打?)?\s?"
_PLACE = "室|房|路|教室|病房|会议室|办公室|宿舍|包间|包厢|号房"
# Counted things before which 2 is 两; wetext knows 个, hours and the metric units.
_COUNTED = (
    "台|只|件|位|人|份|条|张|把|瓶|杯|盒|包|箱|袋|套|双|天|周|次|遍|家|间|辆|颗|片|粒|根|支|本|页|句|块|扇|盏|桶|批|趟"
    "|架|名|户|吨|年(?!级)|星期|秒|分钟|倍|万|千|点(?![\\d]|五)"
)
_CALENDAR = r"(?:19|20)\d\d"


def _spelt(digits: str) -> str:
    return digits.translate(_DIGITS)


def _telephone(match: re.Match[str]) -> str:
    *lead, number = match.groups()
    return "".join(lead) + re.sub(r"[^\d]", "", number).translate(_TELEPHONE_DIGITS)


def _code(match: re.Match[str]) -> str:
    """Digit by digit; a hyphen inside a code is read 杠."""
    return match[1] + _spelt(match[2].replace("-", "杠"))


def _cardinal(digits: str) -> str:
    """A number below a thousand; wetext takes some, such as 120, for a telephone number."""
    hundreds, tens, ones = (int(digit) for digit in digits.zfill(3))
    words = "零一二三四五六七八九"
    said = f"{words[hundreds]}百" if hundreds else ""
    if tens:
        said += f"{words[tens]}十" if hundreds or tens > 1 else "十"
    elif hundreds and ones:
        said += "零"
    return said + (words[ones] if ones or not said else "")


def _pressure(match: re.Match[str]) -> str:
    return f"{match[1]}{_cardinal(match[2])}比{_cardinal(match[3])}"


def _money(match: re.Match[str]) -> str:
    return (
        match[1].rstrip("0").rstrip(".") + (match[2] or "元")
        if "." in match[1]
        else match[1] + (match[2] or "元")
    )


def _padded_time(match: re.Match[str]) -> str:
    seconds = "" if match[3] == "00" else f"{int(match[3])}秒"
    return f"{int(match[1])}点{match[2]}分{seconds}"


_Rewrite = str | Callable[[re.Match[str]], str]
_BEFORE: tuple[tuple[re.Pattern[str], _Rewrite], ...] = tuple(
    (re.compile(pattern), rewrite)
    for pattern, rewrite in (
        (r"％", "%"),
        (r"[−–]", "-"),
        (r"～", "~"),
        (r"(?<=[\d\u4e00-\u9fff])[~-](?=(?:周|星期|次日|[一二三四五六七八九十]))", "到"),
        (r"~(?![\d-])", ""),  # a drawl: 你好~
        (r"(?<=\d)T(?=\d\d:\d\d)", " "),
        (r"±(?=\d)", "正负"),
        (r"(?<![\d\s])\s?>\s?(?=\d)", "大于"),
        (r"(?<![\d\s])\s?<\s?(?=\d)", "小于"),
        (r"10\^(\d+)", r"10的\1次方"),
        (r"10([⁰¹²³⁴-⁹]+)", lambda m: f"10的{m[1].translate(_RAISED)}次方"),
        (r"第(\d+)/(\d+)([页张集章])", r"第\1\3共\2\3"),
        (r"(?<=[A-Za-z\u4e00-\u9fff])/(?=(?:次|日|天|周|人|晚|小时|分钟|斤|个|件)(?![A-Za-z]))", "每"),
        (r"(?<=[\u4e00-\u9fff])/L(?![A-Za-z])", "每升"),
        (r"(?<=月)2(?=[日号])", "二"),
        (r"(?<![\d.])(\d{1,2}):([0-5]\d):([0-5]\d)(?![\d:])", _padded_time),
        (r"(?<![\d:])0?0:([0-5][1-9]|[1-5]0)(?![\d:])", r"零点\1分"),
        (r"第2(?!\d)", "第二"),
        (r"(?<=[A-Za-z])2(?=[层楼号座栋区])", "二"),
        # blood pressure
        (r"()(?<!\d)(\d{2,3})\s?/\s?(\d{2,3})\s?(?=mmHg|毫米汞柱)", _pressure),
        (r"(血压[^\d，。；]{0,6})(\d{2,3})\s?/\s?(\d{2,3})(?!\d)", _pressure),
        (rf"({_NUMBER})\s?V\s?/\s?({_NUMBER})\s?A(?![A-Za-z])", r"\1伏\2安"),
        (rf"(电流[^\d，。；]{{0,4}}{_NUMBER})\s?A(?![A-Za-z])", r"\1安"),
        # telephone numbers
        (r"\+(86|\d{1,3}(?=[\s-]))[\s-]?(?=\d{5})", lambda m: "加" + _spelt(m[1])),
        (r"(?<![\d.])(1[3-9]\d[\s-]?\d{4}[\s-]?\d{4})(?![\d元])", _telephone),
        (r"(?<![\d.-])(0\d{2,3}-\d{7,8}|[48]00-?\d{3}-?\d{4})(?!\d)", _telephone),
        (rf"({_TELEPHONE_WORDS})({_LINK})(\d[\d-]{{2,11}})(?![\d.:年月个元])", _telephone),
        (r"(?<![\d.打拨])(110|119|120|122)(?![\d.:/-]|急救|救护|报警|指挥|民警)", lambda m: _cardinal(m[1])),
        # codes and rooms, digit by digit
        (rf"((?:{_CODE_WORDS}){_LINK}(?:[A-Za-z]+-?)?)(\d[\d-]{{2,}})(?![\d.:年月人])", _code),
        (rf"()(?<![\d.])(\d{{3,5}})(?=(?:{_PLACE})(?!间隔))", _code),
        (r"((?<![A-Za-z0-9])(?:[A-Z]{1,3}|[A-Za-z]+)-?)(\d{3,})(?![\d.A-Za-z])", _code),
        (r"(航班(?:号[是为]?)?\s?[A-Z]{2}) ?(\d{3,4})(?!\d)", _code),
        (r"(?<![A-Za-z0-9])(\d)([A-Z])(\d{3,4})(?![\dA-Za-z])", lambda m: _spelt(m[1]) + m[2] + _spelt(m[3])),
        # dates, versions, addresses
        (rf"(?<![\d.])({_CALENDAR})\.(\d{{1,2}})\.(\d{{1,2}})(?![\d.])", r"\1年\2月\3日"),
        (rf"(?<![\d-])({_CALENDAR})-(0?[1-9]|1[0-2])(?![\d-])", r"\1年\2月"),
        (rf"(?<!\d)({_CALENDAR})年?[~-]({_CALENDAR})年", r"\1年到\2年"),
        (r"(?<![\d.])\d+(?:\.\d+){2,}(?![\d.])", lambda m: _spelt(m[0]).replace(".", "点")),
        # money, shares, ranges
        (r"[￥¥]\s?(\d[\d,]*(?:\.\d+)?)\s?(元|块|万元|亿元)?", lambda m: _money(m)),
        (r"(?<![\d.])(\d[\d,]*\.\d+)(元|块)", _money),
        (rf"(?<![\d%])-({_NUMBER}%)", r"负\1"),
        (rf"({_NUMBER})\s?‰", r"千分之\1"),
        (rf"({_NUMBER}%)\s?[~-]\s?(-?{_NUMBER}%)", r"\1到\2"),
        (rf"(?<![\d.])(-?{_NUMBER})(?:℃|°C|度)?\s?[~-]\s?(-?{_NUMBER}\s?(?:℃|°C|度))", r"\1到\2"),
        (r"(?<![\d.年月-])(\d{1,4})-(\d{1,4})(?=[层楼号栋座班岁排组期])", r"\1到\2"),
        # signs
        (r"(?<![\dA-Za-z])[Nn]o\.?\s?(\d+)(?:号)?", r"\1号"),
        (r"(?<!\d)(\d+)#(?!\d)", r"\1号"),
        (r"#(\d+)(?:号)?", r"\1号"),
        (r"(?<![\dA-Za-z])(\d+)(?:st|nd|rd|th)(?![A-Za-z])", r"第\1"),
        (r"½", "二分之一"),
        (r"¼", "四分之一"),
        (r"¾", "四分之三"),
    )
)
_AFTER_UNITS = re.compile(rf"(?<![A-Za-z\d.,第/:月年~-])2(?=(?:{_COUNTED}))")


def before(text: str) -> str:
    """`text` with the kinds rewritten that wetext misreads."""
    text = text.translate(_LOWERED)
    for pattern, rewrite in _BEFORE:
        text = pattern.sub(rewrite, text)
    text = _UNIT.sub(lambda match: match[1] + _UNIT_NAMES[match[2]], text)
    return _AFTER_UNITS.sub("两", text)


def after(text: str) -> str:
    """`text` as wetext read it, with any digit that it left spelt out."""
    return text.translate(_DIGITS)
