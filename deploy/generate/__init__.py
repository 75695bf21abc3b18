"""Writes the files of deploy/ that follow from the catalogue and `values.yaml`."""
