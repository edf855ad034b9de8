"""Entry point of `make faults`: with --preempt, the product is instrumented before its import."""

import sys

from humanoid_stepped.preemption import instrument

PREEMPT = "--preempt"

if __name__ == "__main__":
    if PREEMPT in sys.argv:
        instrument()
    from fault_campaign.command import main

    sys.exit(main())
