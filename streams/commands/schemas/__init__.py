"""The contract for programs: JSON Schemas of what lara reads and writes, and the AsyncAPI document."""
