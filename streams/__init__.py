"""The shell: Kafka, Redis, Faust, and the command line."""
