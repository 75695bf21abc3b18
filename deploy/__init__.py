"""What a deployment needs beside the program; what can be derived from the catalogue is generated."""
