"""The style presets of the MQTT contract, with the labels that pickers show."""

from typing import NamedTuple


class Preset(NamedTuple):
    name: str
    label_en: str
    label_zh: str


# The dialects are those that Fun-CosyVoice3-0.5B was trained to follow.
PRESETS: dict[str, Preset] = {
    name: Preset(name, label_en, label_zh)
    for name, label_en, label_zh in (
        ("neutral", "Neutral", "平静"),
        ("mandarin", "Mandarin", "普通话"),
        ("excited", "Excited", "兴奋"),
        ("happy", "Happy", "开心"),
        ("sad", "Sad", "悲伤"),
        ("angry", "Angry", "生气"),
        ("loud", "Loud", "大声"),
        ("soft", "Soft", "轻声"),
        ("slow", "Slow", "慢速"),
        ("fast", "Fast", "快速"),
        ("cantonese", "Cantonese", "广东话"),
        ("dongbei", "Northeastern Mandarin", "东北话"),
        ("gansu", "Gansu dialect", "甘肃话"),
        ("guizhou", "Guizhou dialect", "贵州话"),
        ("henan", "Henan dialect", "河南话"),
        ("hubei", "Hubei dialect", "湖北话"),
        ("hunan", "Hunan dialect", "湖南话"),
        ("jiangxi", "Jiangxi dialect", "江西话"),
        ("minnan", "Southern Min", "闽南话"),
        ("ningxia", "Ningxia dialect", "宁夏话"),
        ("shanxi", "Shanxi dialect", "山西话"),
        ("shaanxi", "Shaanxi dialect", "陕西话"),
        ("shandong", "Shandong dialect", "山东话"),
        ("shanghai", "Shanghainese", "上海话"),
        ("sichuan", "Sichuan dialect", "四川话"),
        ("tianjin", "Tianjin dialect", "天津话"),
        ("yunnan", "Yunnan dialect", "云南话"),
    )
}

_BY_LABEL = {
    label.casefold(): preset.name
    for preset in PRESETS.values()
    for label in (preset.name, preset.label_en, preset.label_zh)
}


def listed() -> list[dict[str, str]]:
    """The presets as pickers are told of them."""
    return [
        {"name": preset.name, "label": preset.label_en, "label_zh": preset.label_zh}
        for preset in PRESETS.values()
    ]


def resolve(style: str) -> str | None:
    """The preset's name for a name or label, the sentence itself for an instruction, None for neither.

    A style with white space or at least four Chinese characters reads as a spoken instruction
    (`用四川话说这句话`); anything shorter that is no preset is a typing mistake.
    """
    style = " ".join(style.split())
    if preset := _BY_LABEL.get(style.casefold()):
        return preset
    han = sum("\u4e00" <= character <= "\u9fff" for character in style)
    return style if han >= 4 or (" " in style and len(style) >= 8) else None
