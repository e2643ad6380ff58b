"""What helps to set up: the doctor, the configuration shown, the demo, the schemas."""
