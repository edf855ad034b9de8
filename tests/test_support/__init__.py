"""Support for tests of several packages; installed with none of them."""
