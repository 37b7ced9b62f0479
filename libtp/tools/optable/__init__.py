"""The operator table: reading, checking, and everything that is generated from it."""
