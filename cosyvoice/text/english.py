"""What wetext's English rules misread, rewritten into forms that they, or nobody, can misread."""

import re
from collections.abc import Callable

from cosyvoice.text import units

_ONES = str.split(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen"
)
_TENS = str.split("zero ten twenty thirty forty fifty sixty seventy eighty ninety")
_NUMBER = r"\d[\d,]*(?:\.\d+)?"

# Unit = singular | plural. wetext knows the metric lengths, weights and volumes, km/h and kW.
_UNITS = dict(
    line.strip().split(" = ")
    for line in """
    mmHg = millimeter of mercury | millimeters of mercury
    mmol/L = millimole per liter | millimoles per liter
    μmol/L = micromole per liter | micromoles per liter
    mg/dL = milligram per deciliter | milligrams per deciliter
    g/L = gram per liter | grams per liter
    mg/L = milligram per liter | milligrams per liter
    μg/m³ = microgram per cubic meter | micrograms per cubic meter
    μg = microgram | micrograms
    mg/m³ = milligram per cubic meter | milligrams per cubic meter
    μm = micrometer | micrometers
    hPa = hectopascal | hectopascals
    kPa = kilopascal | kilopascals
    MPa = megapascal | megapascals
    Pa = pascal | pascals
    psi = P S I | P S I
    ppm = part per million | parts per million
    V = volt | volts
    kV = kilovolt | kilovolts
    mV = millivolt | millivolts
    W = watt | watts
    mA = milliamp | milliamps
    mAh = milliamp hour | milliamp hours
    kWh = kilowatt hour | kilowatt hours
    Wh = watt hour | watt hours
    Hz = hertz | hertz
    kHz = kilohertz | kilohertz
    MHz = megahertz | megahertz
    GHz = gigahertz | gigahertz
    dB = decibel | decibels
    lx = lux | lux
    lm = lumen | lumens
    rpm = R P M | R P M
    bpm = beat per minute | beats per minute
    Ω = ohm | ohms
    kΩ = kilohm | kilohms
    m² = square meter | square meters
    m³ = cubic meter | cubic meters
    kcal = kilocalorie | kilocalories
    m/s = meter per second | meters per second
    L/min = liter per minute | liters per minute
    MB = megabyte | megabytes
    GB = gigabyte | gigabytes
    TB = terabyte | terabytes
    km² = square kilometer | square kilometers
    """.strip().splitlines()
)
_SPELLINGS = {"m2": "m²", "m3": "m³", "u": "μ", "µ": "μ", "l": "L"}  # other ways to write the same unit
_UNIT_NAMES = units.with_spellings(_UNITS, _SPELLINGS)
_UNIT = re.compile(rf"(?<![\w.])(-?{_NUMBER})\s?(" + units.any_of(_UNIT_NAMES) + r")(?![\w²³/])")

_MONEY = {"$": ("dollar", "cent"), "£": ("pound", "penny"), "€": ("euro", "cent"), "¥": ("yuan", "fen")}
_CODE_WORDS = (
    "room|flight|gate|extension|ext|apartment|apt|suite|code|pin|bus|train|platform|locker|bay|unit|house"
    "|order"
)
_TELEPHONE_WORDS = "call|dial|phone|telephone|text|number is|hotline"

_ROUND_BRACKETS = str.maketrans("[]", "()")  # wetext refuses a digit in square ones


def cardinal(number: int) -> str:
    """A whole number in words."""
    if number < 0:
        return "minus " + cardinal(-number)
    if number < 20:
        return _ONES[number]
    if number < 100:
        return _TENS[number // 10] + (f" {_ONES[number % 10]}" if number % 10 else "")
    for size, name in ((10**9, "billion"), (10**6, "million"), (1000, "thousand"), (100, "hundred")):
        if number >= size:
            rest = number % size
            return f"{cardinal(number // size)} {name}" + (f" {cardinal(rest)}" if rest else "")
    raise AssertionError(number)  # every number from 100 on is at least a hundred


def _spelt(text: str) -> str:
    """Digit by digit; any other character between digits is a short pause or nothing."""
    return " ".join(_ONES[int(char)] for char in text if char.isdigit())


def _telephone(match: re.Match[str]) -> str:
    groups = re.findall(r"\d+", match[2])
    plus = "plus " if "+" in match[2] else ""
    return match[1] + plus + ", ".join(_spelt(group) for group in groups)


def _code(match: re.Match[str]) -> str:
    return match[1] + " ".join([*match[2].upper(), _spelt(match[3])])


def _amount(match: re.Match[str]) -> str:
    major, minor = _MONEY[match[1]]
    units, cents = int(match[2].replace(",", "")), int(match[3] or 0)
    said = []
    if units or not cents:
        said.append(f"{cardinal(units)} {major}" + ("" if units == 1 or match[1] == "¥" else "s"))
    if cents:
        plural = minor if cents == 1 or minor == "fen" else {"penny": "pence"}.get(minor, minor + "s")
        said.append(f"{cardinal(cents)} {plural}")
    return " and ".join(said)


def _decade(match: re.Match[str]) -> str:
    century, tens = int(match[1]), int(match[2])
    name = "hundreds" if tens == 0 else _TENS[tens].removesuffix("y") + "ies" if tens > 1 else "tens"
    return f"{cardinal(century)} {name}"


def _unit(match: re.Match[str]) -> str:
    number, unit = match[1].replace(",", ""), match[2]
    singular, plural = _UNIT_NAMES[unit].split(" | ")
    spoken = cardinal(int(number)) if re.fullmatch(r"-?\d+", number) else number
    return f"{spoken} {singular if number == '1' else plural}"


def _with_commas(match: re.Match[str]) -> str:
    return cardinal(int(match[0].replace(",", "")))


_Rewrite = str | Callable[[re.Match[str]], str]
_BEFORE: tuple[tuple[re.Pattern[str], _Rewrite], ...] = tuple(
    (re.compile(pattern), rewrite)
    for pattern, rewrite in (
        (r"[−–](?=\d)", "-"),
        (r"’", "'"),
        (r"￥", "¥"),
        (r"(?<![\w.])(\d{2,3})\s?/\s?(\d{2,3})(?=\s?mmHg)", r"\1 over \2"),
        (r"(?i)(blood pressure\D{0,12}?)(\d{2,3})\s?/\s?(\d{2,3})(?!\d)", r"\1\2 over \3"),
        (r"\b24/7\b", "twenty four seven"),
        # telephone numbers
        (r"()(?<![\w.])(\+\d{1,3}(?:[ -]?\(?\d{2,4}\)?){2,4})(?![\w-])", _telephone),
        (r"()(?<![\w.-])((?:\d{3}[- ])?\d{3}-\d{4})(?![\w-])", _telephone),
        (rf"(?i)(\b(?:{_TELEPHONE_WORDS})\s+)(\d[\d-]{{2,}})(?![\w.:])", _telephone),
        # codes and rooms
        (rf"(?i)(\b(?:{_CODE_WORDS})\s+(?:number\s+)?)([A-Z]{{0,2}})[- ]?(\d{{3,}})(?![\w.:])", _code),
        (r"()\b([A-Z]{1,3})-?(\d{3,})(?![\w.])", _code),
        (r"\b(CO|NO|SO|H)([23])(O?)\b", lambda m: " ".join([*m[1], m[2], *m[3]])),
        (r"\bPM\s?(2\.5|10)\b", r"P M \1"),
        (r"(?<=[A-Za-z])-(?=\d)", " "),
        (
            r"(?<![\w.])v?(\d+(?:\.\d+){2,})(?![\w.])",
            lambda m: " point ".join(cardinal(int(n)) for n in m[1].split(".")),
        ),
        (r"(?<=[A-Za-z])(?=\d+\.\d)", " "),
        # money and numbers
        (
            r"([$£€¥])\s?(\d{1,3}(?:,\d{3})+|\d+)(?:\.(\d\d))?(?![\d,]*\.?\d|\s?(?:hundred|thousand|million|billion|[kmb]\b))",
            _amount,
        ),
        (r"\b(1[0-9]|20)(\d)0s\b", _decade),
        (r"(?<![\d.,])\d{1,3}(?:,\d{3})+(?![\d,]|\.\d)", _with_commas),
        (r"(?<=\d),(?=\d{3}(?!\d))", ""),
        (r"(\d)\s?%?\s?-\s?(\d+(?:\.\d+)?\s?%)", r"\1 to \2"),
        # signs
        (r"(?<![\w.])#\s?(?=\d)", "number "),
        (r"\bNo\.\s?(?=\d)", "number "),
        (r"(\d)'\s?(\d{1,2})(?:\"|'')", r"\1 foot \2"),
        (r"(?<=[\d)])\s?<\s?(?=[\d(-])", " is less than "),
        (r"(?<=[\d)])\s?>\s?(?=[\d(-])", " is greater than "),
        (r"(?<=[\d)])\s?[×*]\s?(?=[\d(-])", " times "),
        (r"(?<=[\d)])\s?\+\s?(?=[\d(])", " plus "),
        (r"(?<=[\d)])\s?=\s?(?=[\d(-])", " equals "),
        (r"(?<![\w.)])-(?=\d)", "minus "),
        (r"\be\.g\.,?", "for example,"),
        (r"\bi\.e\.,?", "that is,"),
        (r"\bvs\.?(?=\s)", "versus"),
        (r"\betc\.", "et cetera."),
        (r"½", " one half"),
        (r"¼", " one quarter"),
        (r"¾", " three quarters"),
    )
)
_AFTER: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"(?<=\w) o (?=(?:one|two|three|four|five|six|seven|eight|nine)\b)"), " oh "),
    (re.compile(r"\s*°\s*C\b"), " degrees Celsius"),
    (re.compile(r"\s*°\s*F\b"), " degrees Fahrenheit"),
    (re.compile(r"\s*°"), " degrees"),
    (re.compile(r" {2,}"), " "),
)


def before(text: str) -> str:
    """`text` with the kinds rewritten that wetext misreads."""
    text = text.translate(_ROUND_BRACKETS)
    for pattern, rewrite in _BEFORE:
        text = pattern.sub(rewrite, text)
    return re.sub(r" {2,}", " ", _UNIT.sub(_unit, text))  # wetext fails on two spaces in a row


def after(text: str) -> str:
    """`text` as wetext read it, with what it left over put into words."""
    for pattern, rewrite in _AFTER:
        text = pattern.sub(rewrite, text)
    return text
