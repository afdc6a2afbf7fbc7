# SPDX-License-Identifier: Apache-2.0
"""histories.py takes what can have been, and refuses what cannot. Needs no server."""
import unittest

from histories import CLIENT_GO, KINFORMER, Log, Event, check, fewest_points

# One object: made, changed twice, deleted, recreated, changed.
STEPS = [(1, "a"), (3, "a"), (5, "a"), (7, None), (9, "b"), (11, "b")]


def add(uid, version):
    return Event("+", "ns/x", uid, version)


def update(uid, version, *before):
    return Event("~", "ns/x", uid, version, before)


def seen_delete(uid, version):
    return Event("-", "ns/x", uid, version, True)


def unseen_delete(uid, version):
    return Event("-", "ns/x", uid, version, False)


WHOLE = [add("a", 1), update("a", 3, "a", 1), update("a", 5, "a", 3), seen_delete("a", 7),
         add("b", 9), update("b", 11, "b", 9)]


class OneKey(unittest.TestCase):
    def takes(self, *history, lists=1, rules=KINFORMER, steps=None):
        self.assertEqual(check({"ns/x": steps or STEPS}, history, lists, rules), [])

    def refuses(self, text, *history, lists=9, rules=KINFORMER, steps=None):
        wrong = check({"ns/x": steps or STEPS}, history, lists, rules)
        self.assertEqual(len(wrong), 1, wrong)
        self.assertIn(text, wrong[0])

    def test_all_steps(self):
        self.takes(*WHOLE, lists=0)
        self.takes(*WHOLE, lists=0, rules=CLIENT_GO)

    def test_a_late_start(self):
        self.takes(add("b", 9), update("b", 11, "b", 9))
        self.takes(add("b", 11))
        self.refuses("as if by 1 lists", add("b", 11), lists=0)

    def test_a_whole_life_is_passed_over(self):
        steps = [*STEPS[:4], (9, "b"), (11, None), (13, "c")]
        history = [*WHOLE[:4], Event("+", "ns/x", "c", 13)]
        other = [(11, "o"), (12, None)]
        other_events = [Event("+", "ns/y", "o", 11), Event("-", "ns/y", "o", 12, True)]
        self.takes(*history, steps=steps)
        self.refuses("as if by 1 lists", *history, steps=steps, lists=0)
        # The list was taken between the lives of the one, while the other was there.
        self.assertEqual(check({"ns/x": steps, "ns/y": [(10, "o"), *other]},
                               [*history, *other_events], 1, KINFORMER), [])

    def test_lists_pass_over_steps(self):
        self.takes(add("a", 1), update("a", 5, "a", 1), seen_delete("a", 7), add("b", 9),
                   update("b", 11, "b", 9))
        self.refuses("as if by 1 lists", add("a", 1), update("a", 5, "a", 1), seen_delete("a", 7),
                     *WHOLE[4:], lists=0)

    def test_as_many_lists_as_needed(self):
        history = [add("a", 3), unseen_delete("a", 3), add("b", 11)]
        self.takes(*history, lists=2)
        self.refuses("as if by 2 lists", *history, lists=1)

    def test_an_unseen_deletion(self):
        self.takes(*WHOLE[:3], unseen_delete("a", 5), *WHOLE[4:])
        self.takes(*WHOLE[:2], unseen_delete("a", 3), add("b", 11))
        self.refuses("as if by 1 lists", *WHOLE[:3], unseen_delete("a", 5), *WHOLE[4:], lists=0)

    def test_a_lost_delete(self):
        self.refuses("a deletion was lost", *WHOLE[:3], steps=STEPS[:4])
        self.refuses("added, and it is there", *WHOLE[:3], *WHOLE[4:])

    def test_a_name_used_again_is_one_update_for_client_go_only(self):
        history = [*WHOLE[:3], update("b", 9, "a", 5), WHOLE[5]]
        self.takes(*history, rules=CLIENT_GO)
        self.refuses("another object", *history)

    def test_unchanged_objects_are_delivered_by_client_go_only(self):
        history = [*WHOLE[:2], update("a", 3, "a", 3), *WHOLE[2:]]
        self.takes(*history, rules=CLIENT_GO)
        self.refuses("nothing has changed", *history)
        self.refuses("as if by 1 lists", *history, rules=CLIENT_GO, lists=0)

    def test_time_travel(self):
        self.refuses("back in time", add("a", 1), update("a", 5, "a", 1), update("a", 3, "a", 5))
        self.refuses("back in time", *WHOLE[:4], add("a", 5))
        self.refuses("back in time", *WHOLE[:3], unseen_delete("a", 5), add("a", 1))

    def test_a_wrong_old(self):
        self.refuses("not from what was delivered last", add("a", 1), update("a", 5, "a", 3))
        self.refuses("not from what was delivered last", add("a", 1), update("a", 3, "b", 1))
        self.refuses("not from what was delivered last", update("a", 3, "a", 1))

    def test_what_never_was(self):
        self.refuses("never had that", add("a", 2))
        self.refuses("never had that", add("b", 5))
        self.refuses("never had that", add("a", 7))
        self.refuses("never had that", add("a", 1), update("a", 4, "a", 1))

    def test_a_key_that_never_was(self):
        self.assertIn("never had", check({}, [add("a", 1)], 1, KINFORMER)[0])

    def test_deletions_that_never_were(self):
        self.refuses("deleted nothing then", *WHOLE[:2], seen_delete("a", 5))
        self.refuses("and what was delivered last is None", seen_delete("a", 7))
        self.refuses("and what was delivered last is None", *WHOLE[:4], seen_delete("a", 7))
        self.refuses("and what was delivered last is", *WHOLE[:3], seen_delete("b", 7))
        self.refuses("and it was there", *WHOLE, unseen_delete("b", 11))
        self.refuses("not delivered last", *WHOLE[:3], unseen_delete("a", 3))

    def test_a_deletion_that_is_seen_comes_after_all_before_it(self):
        self.refuses("were not delivered", *WHOLE[:2], seen_delete("a", 7), *WHOLE[4:])

    def test_the_end_is_missing(self):
        self.refuses("the end was not delivered", *WHOLE[:5])
        self.refuses("the end was not delivered", *WHOLE[:4])
        self.refuses("the end was not delivered")


class Labels(unittest.TestCase):
    def setUp(self):
        self.log = Log()
        yes, no = {"pick": "yes", "more": "1"}, {"pick": "no"}
        for version, uid, labels in ((1, "a", no), (2, "a", yes), (3, "a", yes), (4, "a", no),
                                     (5, "a", no), (6, "a", yes), (7, None, None)):
            self.log.note("pods", "ns/x", version, uid, labels)
        self.log.note("pods", "other/y", 8, "c", no)
        self.log.note("maps", "ns/x", 9, "d", no)

    def test_a_view_has_what_matches(self):
        self.assertEqual(self.log.view("pods", labels={"pick": "yes"}),
                         {"ns/x": [(2, "a"), (3, "a"), (4, None), (6, "a"), (7, None)]})

    def test_a_view_of_a_namespace(self):
        self.assertEqual(self.log.view("pods", "other"), {"other/y": [(8, "c")]})
        self.assertEqual(len(self.log.view("pods")["ns/x"]), 7)

    def test_an_object_that_ceases_to_match_and_matches_again(self):
        view = self.log.view("pods", labels={"pick": "yes"})
        live = [add("a", 2), update("a", 3, "a", 2), seen_delete("a", 4), add("a", 6),
                seen_delete("a", 7)]
        self.assertEqual(check(view, live, 0, KINFORMER), [])
        passed_over = [add("a", 2), update("a", 6, "a", 2), seen_delete("a", 7)]
        self.assertEqual(check(view, passed_over, 1, KINFORMER), [])
        missed = [add("a", 2), unseen_delete("a", 2)]
        self.assertEqual(check(view, missed, 1, KINFORMER), [])

    def test_it_is_not_missed_while_it_is_there(self):
        self.log.entries[("pods", "ns/x")].pop()
        view = self.log.view("pods", labels={"pick": "yes"})
        history = [add("a", 2), unseen_delete("a", 2), add("a", 6)]
        self.assertEqual(check(view, history, 1, KINFORMER), [])
        self.assertIn("the end was not delivered", check(view, history[:2], 1, KINFORMER)[0])


class Lists(unittest.TestCase):
    def test_points(self):
        self.assertEqual(fewest_points([]), 0)
        self.assertEqual(fewest_points([(1, 5), (4, 9), (4, 5)]), 1)
        self.assertEqual(fewest_points([(1, 4), (4, 9)]), 2)
        self.assertEqual(fewest_points([(1, 100), (2, 3), (5, 6), (5, 9)]), 2)

    def test_one_list_explains_gaps_of_many_keys_only_if_it_can(self):
        view = {"ns/x": STEPS, "ns/y": [(2, "y"), (4, "y"), (6, "y")]}
        y_events = [Event("+", "ns/y", "y", 4), Event("~", "ns/y", "y", 6, ("y", 4))]
        self.assertEqual(check(view, [add("a", 3), *WHOLE[2:], *y_events], 1, KINFORMER), [])
        early = [add("a", 5), *WHOLE[3:], Event("+", "ns/y", "y", 4),
                 Event("~", "ns/y", "y", 6, ("y", 4))]
        self.assertEqual(check(view, early, 1, KINFORMER), [])
        late = [add("b", 9), WHOLE[5], *y_events]
        self.assertIn("as if by 2 lists", check(view, late, 1, KINFORMER)[0])


if __name__ == "__main__":
    unittest.main()
