"""What the values of command-line arguments may be; argparse shows the sentences of the errors."""

import argparse
import re

from daemon.mqtt.intake import MAX_ID_LENGTH


def text(value: str) -> str:
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise argparse.ArgumentTypeError("is not UTF-8 text") from error
    return value


def identifier(value: str) -> str:
    if not 1 <= len(value) <= MAX_ID_LENGTH:
        raise argparse.ArgumentTypeError(f"must have 1 to {MAX_ID_LENGTH} characters")
    return value


def language(value: str) -> str:
    if not re.fullmatch("[a-z]{2,3}", value):
        raise argparse.ArgumentTypeError("must be an ISO 639-1 code such as zh, en or ja")
    return value


def count(value: str) -> int:
    if not value.isascii() or not value.isdigit() or not 1 <= int(value) <= 64:
        raise argparse.ArgumentTypeError("must be a number from 1 to 64")
    return int(value)


def seconds(value: str) -> float:
    try:
        number = float(value)
    except ValueError:
        number = 0.0
    if not 0 < number < float("inf"):
        raise argparse.ArgumentTypeError("must be a number of seconds above 0")
    return number
