def before(text: str) -> str:
    return text


def after(text: str) -> str:
    return text
