"""What `lara` answers to."""
