"""Commands: each parses its options, calls one function of the library and prints."""
