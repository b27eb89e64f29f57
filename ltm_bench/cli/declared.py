"""Makes a command of a function: an option for every declared argument, with its environment variable and help."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import is_dataclass
from functools import partial, wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import Annotated, Any, TypeVar, get_type_hints

import typer

from ltm_bench.cli.console import err
from ltm_bench.core.errors import ConfigError
from ltm_bench.plan.declaring import FORMER, Argument, Given, argument, arguments
from ltm_bench.plan.values import whole

F = TypeVar("F", bound=Callable[..., None])


def group(about: str | None = None) -> typer.Typer:
    """Return the commands of a file: a group with its help, or a single command without."""
    return typer.Typer(help=about, no_args_is_help=True, add_completion=False, rich_markup_mode=None)


def command(
    app: typer.Typer, *examples: str, name: str | None = None, idle: Sequence[type] = (), hidden: bool = False
) -> Callable[[F], F]:
    """Return a decorator that makes a command of a function.

    A parameter whose type is a declaration, such as `Request`, becomes an option for each field; one whose `Annotated`
    type has an `Option` becomes that option. A parameter takes the place of a field with the same flag.

    Args:
        app: The commands of its file.
        examples: The examples at the end of its help.
        name: Its name; by default, the function's.
        idle: Declarations whose other options it accepts without effect, so that a `run` line works unchanged. They are
            hidden, and a note names those that are typed.
        hidden: Whether it is an old name, which works and is not listed.
    """
    epilog = "\n".join(["\b", "Examples:", *(f"  ltm-bench {line}" for line in examples)])

    def add(function: F) -> F:
        former = {"token_normalize_func": lambda flag: FORMER.get(flag, flag)}
        shown = epilog if examples else None
        app.command(name, epilog=shown, context_settings=former, hidden=hidden)(_spread(function, idle))
        return function

    return add


def _spread(function: Callable[..., None], idle: Sequence[type]) -> Callable[..., None]:
    """Return a function for Typer: it takes text for every option, and calls the given one with finished values."""
    hints, given = get_type_hints(function, include_extras=True), signature(function).parameters
    own = {name: argument(name, hints[name], each.default) for name, each in given.items()}
    taken = {each.flag for each in own.values() if each is not None}
    fields = {name: _untaken(hints[name], taken) for name in given if is_dataclass(hints[name])}
    useless = {each.name: each for kind in idle for each in _untaken(kind, taken)}

    @wraps(function)
    def call(ctx: typer.Context, **values: Any) -> None:
        _note(ctx, useless)
        made, said = {}, [each for each in values if _comes_from(ctx, each, "COMMANDLINE", "DEFAULT_MAP")]
        for name in given:
            if name in fields:
                made[name] = hints[name](
                    **{each.name: _value(each, values[each.name]) for each in fields[name]}
                )
                getattr(made[name], "said", Given()).update(said)
            elif (declared := own[name]) is not None:
                made[name] = _value(declared, values[name])
            else:
                made[name] = values[name]
        function(**made)

    parameters = [Parameter("ctx", Parameter.KEYWORD_ONLY, annotation=typer.Context)]
    for name, each in given.items():
        if name in fields:
            parameters += map(_parameter, fields[name])
        elif (declared := own[name]) is not None:
            parameters.append(_parameter(declared))
        else:
            parameters.append(each.replace(kind=Parameter.KEYWORD_ONLY, annotation=hints[name]))
    parameters += [_parameter(each, hidden=True) for each in useless.values()]
    declared_ones = [each for each in own.values() if each] + [
        each for part in fields.values() for each in part
    ]
    vars(call).update(
        __signature__=Signature(parameters),
        __annotations__={each.name: each.annotation for each in parameters},
        arguments={each.name: each for each in (*declared_ones, *useless.values())},
    )
    return call


def _untaken(declaration: type, taken: set[str]) -> list[Argument]:
    """Return the options of a declaration whose flags are not taken, and take them."""
    found = [
        each for each in arguments(declaration).values() if each.option.terminal and each.flag not in taken
    ]
    taken.update(each.flag for each in found)
    return found


def _note(ctx: typer.Context, useless: Mapping[str, Argument]) -> None:
    """Print a note about what was typed and has no effect."""
    typed = [each.flag for name, each in useless.items() if _comes_from(ctx, name, "COMMANDLINE")]
    if typed:
        err().print(f"without effect in {ctx.command_path.partition(' ')[2]}: {', '.join(typed)}")


def _comes_from(ctx: typer.Context, name: str, *places: str) -> bool:
    source = ctx.get_parameter_source(name)
    return source is not None and source.name in places


def _value(declared: Argument, given: Any) -> Any:
    """Return an option's value as the function expects it."""
    if not declared.repeated:
        return given
    if not given:
        return () if declared.default is Parameter.empty else declared.default
    try:
        return declared.option.parse(given) if declared.option.parse else tuple(given)
    except ValueError as error:
        raise ConfigError(f"{declared.flag} {' '.join(given)}: {error}") from None


def _parameter(declared: Argument, *, hidden: bool = False) -> Parameter:
    """Return the parameter of which Typer makes the option."""
    option, default = declared.option, declared.default
    kind: Any = next((each for each in (bool, Path) if each in declared.kinds), str)
    text = option.help
    if declared.repeated:
        kind, text = list[str], f"{text} Can be repeated."
        default = default if default is Parameter.empty else None
    info = typer.Option(
        *declared.flags,
        metavar=option.metavar,
        parser=_parser(declared),
        envvar=declared.variables[0] if len(declared.variables) == 1 else declared.variables or None,
        help=text,
        hidden=hidden,
    )
    return Parameter(
        declared.name,
        Parameter.KEYWORD_ONLY,
        default=default,
        annotation=Annotated[kind | None if default is None else kind, info],
    )


def _parser(declared: Argument) -> Callable[[Any], Any] | None:
    """Return the parser of a single text; its errors name the option."""
    parse = None if declared.repeated else declared.option.parse
    if int in declared.kinds and str not in declared.kinds:
        parse = partial(whole, least=declared.option.least, most=declared.option.most)
    if parse is None:
        return None

    def read(text: Any) -> Any:
        try:
            return parse(text)
        except ValueError as error:
            raise ConfigError(f"{declared.flag} {text}: {error}") from None

    return read
