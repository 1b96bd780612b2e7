"""Which rules reach which folder, worked out once a folder: the verdict on a name is then a look into a few tables.

No I/O; one thread.
"""

import re

from vibekit_desktop.core.disk.wildmatch import Rule

Ranked = tuple[int, Rule]
"""A rule with its strength: later lines and deeper files are stronger."""
Place = tuple[Ranked, int]


class Names:
    """All rules that reach the names in one folder."""

    __slots__ = ("_literal", "_regex", "_rules", "_suffixes")

    def __init__(self, rules: tuple[Ranked, ...]) -> None:
        self._rules = tuple(rule for _, rule in sorted(rules, key=lambda ranked: ranked[0], reverse=True))
        self._literal = frozenset(rule.name.text for _, rule in rules if rule.name.regex is None and not rule.name.suffix)
        self._suffixes = tuple({rule.name.text for _, rule in rules if rule.name.suffix})
        parts = sorted({rule.name.regex.pattern for _, rule in rules if rule.name.regex is not None})
        self._regex = re.compile("|".join(f"(?:{part})" for part in parts), re.DOTALL) if parts else None

    def strongest(self, name: str, *, folder: bool) -> Rule | None:
        """The rule that decides; None if none matches."""
        if not (
            name in self._literal
            or name.endswith(self._suffixes)
            or (self._regex is not None and self._regex.fullmatch(name) is not None)
        ):
            return None  # nearly every name ends here
        for rule in self._rules:
            if (folder or not rule.only_folders) and rule.name.matches(name):
                return rule
        return None


class Reach:
    """The rules as they stand in one folder. Never changes once made."""

    __slots__ = ("_everywhere", "_plain", "_under_way", "names")

    def __init__(self, everywhere: tuple[Ranked, ...], under_way: tuple[Place, ...], plain: Names | None = None) -> None:
        """``everywhere``: rules for this folder and all below. ``under_way``: those that depend on the folders on the way, with
        how many of these are matched here. ``plain``: the names for ``everywhere``, if they are made already."""
        self._everywhere = everywhere
        self._under_way = under_way
        self._plain = Names(everywhere) if plain is None else plain
        here = [ranked for ranked, at in under_way if at == len(ranked[1].folders or ())]
        self.names = Names((*everywhere, *here)) if here else self._plain

    def with_rules(self, rules: tuple[Ranked, ...]) -> "Reach":
        """With the rules of a file in this very folder."""
        everywhere = tuple(ranked for ranked in rules if ranked[1].folders is None)
        anchored = tuple((ranked, 0) for ranked in rules if ranked[1].folders is not None)
        return Reach((*self._everywhere, *everywhere), _closed((*self._under_way, *anchored)))

    def below(self, name: str) -> "Reach":
        """The rules as they stand in a folder in this one."""
        if not self._under_way:
            return self
        moved: list[Place] = []
        for ranked, at in self._under_way:
            folders = ranked[1].folders or ()
            if at == len(folders):
                continue
            wanted = folders[at]
            if wanted is None:
                moved.append((ranked, at))
            elif wanted.matches(name):
                moved.append((ranked, at + 1))
        return Reach(self._everywhere, _closed(tuple(moved)), self._plain)


NO_RULES = Reach((), ())


def _closed(under_way: tuple[Place, ...]) -> tuple[Place, ...]:
    """With the places behind ``**``, which may stand for no folder at all; each place once."""
    found: dict[Place, None] = {}
    for ranked, at in under_way:
        folders = ranked[1].folders or ()
        found[ranked, at] = None
        while at < len(folders) and folders[at] is None:
            at += 1
            found[ranked, at] = None
    return tuple(found)
