"""Words: the grammar of instructions and the tokenizer."""
