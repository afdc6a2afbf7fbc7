# SPDX-License-Identifier: Apache-2.0
"""Whether the events of an informer are possible, by the server's own log. Pure: no
clock, no server.

A log has for each key the versions that were written, each with the object's uid, or with None
where it was deleted. What an informer sees of that, with its namespace and labels, is a view: steps
(version, uid), with None where the object was deleted or ceased to match. An informer delivers
steps one by one as long as it watches. It may pass over some where it listed again, for a list
shows only what is there at its version. So:

  - an object is added once, changes from what was delivered last, and is deleted once;
  - each delivered version is a step of this key, of the same object, later than the one before;
  - a deletion that was seen is a step; one that was not seen has the state that was delivered
    last, and such a step there was;
  - where steps were passed over, a list can have been taken: all that needs one in a history is
    explained by no more lists than the informer had;
  - in the end what was delivered is what there is.
"""
from typing import NamedTuple

FOREVER = 1 << 62


class Rules(NamedTuple):
    """What informers do differently, and may."""
    recreated_is_update: bool  # a name that was used again while nobody looked is one update
    repeats: bool  # what a list finds unchanged is delivered as an update to itself


KINFORMER = Rules(recreated_is_update=False, repeats=False)
CLIENT_GO = Rules(recreated_is_update=True, repeats=True)


class Event(NamedTuple):
    """One call of a handler. `more`: of "~", (uid, version) before; of "-", whether it was seen."""
    what: str
    key: str
    uid: str
    version: int
    more: object = None


class Refused(Exception):
    pass


class Log:
    """All that was written, by resource and key, in order."""

    def __init__(self):
        self.entries = {}  # (resource, key): [(version, uid, labels)]; of a deletion, uid is None

    def note(self, resource, key, version, uid=None, labels=None):
        self.entries.setdefault((resource, key), []).append((version, uid, labels or {}))

    def view(self, resource, name_space=None, labels=None):
        """{key: steps} of one resource, of a namespace and of objects with these labels only."""
        found = {}
        for (of, key), entries in self.entries.items():
            if of == resource and (name_space is None or key.startswith(name_space + "/")):
                steps = seen(entries, labels or {})
                if steps:
                    found[key] = steps
        return found


def seen(entries, labels):
    """The steps that a client sees that selects objects with these labels."""
    steps = []
    for version, uid, has in entries:
        if uid is not None and labels.items() <= has.items():
            steps.append((version, uid))
        elif steps and steps[-1][1] is not None:
            steps.append((version, None))
    return steps


class Track:
    """What is delivered of one key, and how far along its steps that leads."""

    def __init__(self, steps, rules):
        self.steps = steps
        self.rules = rules
        self.place = {version: i for i, (version, _) in enumerate(steps)}
        self.at = -1  # the step that was delivered last
        self.current = None  # (uid, version)
        self.unseen = None  # where a list must have been that found the object gone
        self.spans = []  # [from, to) of versions: in each a list must have been taken

    def deliver(self, event):
        {"+": self.add, "~": self.update, "-": self.delete}[event.what](event)

    def find(self, event):
        """The step of the event."""
        index = self.place.get(event.version)
        if index is None or self.steps[index][1] != event.uid:
            raise Refused("the server never had that")
        return index

    def end(self, index):
        """The version from which a step is past."""
        return self.steps[index + 1][0] if index + 1 < len(self.steps) else FOREVER

    def go(self, index):
        """On to this step; if that passes over others, a list showed it. To whom knows of nothing a
        list may also have shown nothing, before it."""
        if index <= self.at:
            raise Refused("back in time")
        if index > self.at + 1:
            from_nothing = self.current is None and self.steps[index - 1][1] is None
            first = index - 1 if from_nothing else index
            self.spans.append((self.steps[first][0], self.end(index)))
        self.at = index

    def add(self, event):
        if self.current is not None:
            raise Refused("added, and it is there")
        index = self.find(event)
        if self.unseen is None:
            self.go(index)
        elif index <= self.at:
            raise Refused("back in time")
        else:  # the list that found the old one gone showed this one, or came before it
            self.spans.append((self.unseen[0], min(self.unseen[1], self.end(index))))
            self.at, self.unseen = index, None
        self.current = (event.uid, event.version)

    def update(self, event):
        if self.current is None or self.current != event.more:
            raise Refused(f"updated, but not from what was delivered last, {self.current}")
        if self.current == (event.uid, event.version):
            if not self.rules.repeats:
                raise Refused("updated, and nothing has changed")
            self.spans.append((event.version, self.end(self.at)))
            return
        index = self.find(event)
        if event.uid != self.current[0] and not self.rules.recreated_is_update:
            raise Refused("updated to another object")
        self.go(index)
        self.current = (event.uid, event.version)

    def delete(self, event):
        if self.current is None or self.current[0] != event.uid:
            raise Refused(f"deleted, and what was delivered last is {self.current}")
        if event.more:
            index = self.place.get(event.version)
            if index is None or self.steps[index][1] is not None:
                raise Refused("the server deleted nothing then")
            if index != self.at + 1:
                raise Refused("steps before the deletion were not delivered")
            self.at = index
        else:
            self.delete_unseen(event)
        self.current = None

    def delete_unseen(self, event):
        if self.current != (event.uid, event.version):
            raise Refused(f"deleted in a state that was not delivered last, {self.current}")
        gone = next((i for i in range(self.at + 1, len(self.steps))
                     if self.steps[i][1] != event.uid), None)
        if gone is None:
            raise Refused("deleted, and it was there")
        self.unseen = (self.steps[gone][0], self.there_again(event.uid))
        self.at = gone

    def there_again(self, uid):
        """From which version on this object exists permanently: no later list can miss it."""
        version = FOREVER
        for step in reversed(self.steps):
            if step[1] != uid:
                break
            version = step[0]
        return version

    def finish(self):
        if self.unseen is not None:
            self.spans.append(self.unseen)
        version, uid = self.steps[-1] if self.steps else (0, None)
        last = None if uid is None else (uid, version)
        if self.current != last:
            what = "a deletion was lost" if last is None else "the end was not delivered"
            raise Refused(f"{what}: delivered last {self.current}, on the server {last}")


def fewest_points(spans):
    """How many points it takes at least for one in each of these [from, to)."""
    count, point = 0, -1
    for begin, end in sorted(spans, key=lambda span: span[1]):
        if begin > point:
            count, point = count + 1, end - 1
    return count


def check(view, history, lists, rules):
    """What is wrong with a history, as texts. `lists`: how many the informer had."""
    tracks = {key: Track(steps, rules) for key, steps in view.items()}
    wrong = {}
    for event in history:
        track = tracks.setdefault(event.key, Track([], rules))
        if event.key not in wrong:
            try:
                track.deliver(event)
            except Refused as error:
                wrong[event.key] = f"{event}: {error}"
    for key, track in tracks.items():
        if key not in wrong:
            try:
                track.finish()
            except Refused as error:
                wrong[key] = f"{key}: {error}"
    needed = fewest_points([span for track in tracks.values() for span in track.spans])
    if not wrong and needed > lists:
        return [f"steps were passed over as if by {needed} lists; there were {lists}"]
    return list(wrong.values())
