import pytest

from daemon.audio.devices import NoDevice, choose
from daemon.audio.protocol import OutputDevice

# As PortAudio lists a Raspberry Pi 4 with an HDMI screen.
OUTPUTS = [
    OutputDevice(index=index, name=name, channels=2, sample_rate_hz=44100)
    for index, name in enumerate(
        ["vc4-hdmi-0: MAI PCM i2s-hifi-0 (hw:0,0)", "bcm2835 Headphones: - (hw:1,0)", "sysdefault", "default"]
    )
]


@pytest.mark.parametrize(
    ("wanted", "name"),
    [
        ("auto", "default"),
        ("default", "default"),
        ("headphones", "bcm2835 Headphones: - (hw:1,0)"),
        ("HDMI", "vc4-hdmi-0: MAI PCM i2s-hifi-0 (hw:0,0)"),
        ("hw:1,0", "bcm2835 Headphones: - (hw:1,0)"),
        ("sysdefault", "sysdefault"),
    ],
)
def test_a_name_means_the_output_that_has_or_holds_it(wanted: str, name: str) -> None:
    assert choose(wanted, OUTPUTS, default_index=3).name == name


def test_auto_takes_the_first_output_where_none_is_the_default() -> None:
    assert choose("auto", OUTPUTS, default_index=-1) == OUTPUTS[0]


@pytest.mark.parametrize(
    ("wanted", "says"),
    [("sysdefualt", "the nearest is 'sysdefault'"), ("kitchen radio", "there are 'vc4-hdmi-0")],
)
def test_an_unknown_name_is_answered_with_what_there_is(wanted: str, says: str) -> None:
    with pytest.raises(NoDevice, match=says):
        choose(wanted, OUTPUTS, default_index=3)


def test_a_machine_without_outputs_says_so() -> None:
    with pytest.raises(NoDevice, match="no sound output"):
        choose("auto", [], default_index=-1)
