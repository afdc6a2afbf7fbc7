# SPDX-License-Identifier: Apache-2.0
"""kinformer beside client-go, for a minute of changes and harm: what both tell is what the server's
own log allows, no deletion is lost, and in the end both have what the server has. The example
controller runs beside them, and reaches what it should. tools/run-oracle does the same for longer.
"""
import unittest

import chaos
from oracle import Oracle

ENOUGH = 100  # changes and events, so that it is about something


class SideBySide(unittest.TestCase):
    def test_a_minute_of_chaos(self):
        with Oracle() as oracle:
            oracle.wait_for_sync()
            oracle.chaos.run(chaos.SHORT)
            wrong = oracle.settle()
            if wrong:
                print(oracle.summary(), oracle.logs(), sep="\n")
            self.assertEqual(wrong, [])
            self.assertGreater(oracle.recorder.count, ENOUGH)
            for client in oracle.clients.values():
                self.assertGreater(client.count(), ENOUGH)
                client.quit()


if __name__ == "__main__":
    unittest.main()
