"""What can go wrong because of what the user gave us, and what the user should know."""

from collections.abc import Callable


class InputError(ValueError):
    """The user's input is wrong.

    The message is one line: what is wrong, where, and what to do. The command turns it into exit code 2.
    """


class MissingExtraError(InputError, ImportError):
    """A feature needs a package that is an extra of tagtopics and is not installed."""

    def __init__(self, feature: str, extra: str) -> None:
        super().__init__(f"{feature} needs an extra: pip install 'tagtopics[{extra}]'")


class CorpusWarning(UserWarning):
    """Something in the data was decided for the user: an empty document kept, a repeated tag counted once."""


def one_line(error: BaseException) -> str:
    """Return the message of an error as one line of at most 200 characters, to quote in another message.

    Of all that pydantic finds, it is the first problem: its place, and what is wrong.
    """
    text = str(error)
    if isinstance(problems := getattr(error, "errors", None), Callable):
        first = problems()[0]
        text = ": ".join(filter(None, (".".join(map(str, first["loc"])), first["msg"])))
    return " ".join(text.split())[:200]
