"""Two faults at once, and faults during a procedure such as a switch, an exit or a bring-up."""
