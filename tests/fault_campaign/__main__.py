"""Entry point of `make faults`."""

import sys

from fault_campaign.command import main

if __name__ == "__main__":
    sys.exit(main())
